#!/usr/bin/env python3
"""Tile programs in Python count, compute and record the same as equal ones in C++. Mistakes are reported with file and
line, and nothing crashes.

    programs.py              with the module on PYTHONPATH
"""

import gc
import pathlib
import random
import sys
import threading
import traceback
import unittest
import warnings

import numpy as np

import tilescope

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "examples"))
from my_flash import my_flash  # noqa: E402

SMALL = dict(heads=2, seq=32, br=16, bc=16, dim=8)


def case(seed):
    r = random.Random(seed)
    kv = r.choice([1, 2, 3])
    flags = dict(batch=r.choice([1, 2]), heads=kv * r.choice([1, 2]), kv_heads=kv, seq_q=r.randint(1, 70),
                 seq_k=r.randint(1, 70), dim=r.choice([8, 16, 24]), dim_v=r.choice([8, 16, 24]),
                 dtype=r.choice(["f32", "f16", "bf16"]), br=r.randint(1, 40), bc=r.randint(1, 40), seed=seed)
    kind = r.randrange(4)
    if kind == 1:
        flags["causal"] = True
    elif kind == 2:
        flags.update(window_left=r.randint(0, 40), window_right=r.randint(0, 40))
    elif kind == 3:
        flags.update(block_mask="random:0.4", mask_block="16x8")
    return flags


def here():
    """The line number of the caller."""
    return sys._getframe(1).f_lineno


def zeros(gpu, t, p):
    """Stores something in the output, as every program has to."""
    whole = tilescope.Span(0, p.seq_q)
    gpu.launch("zeros", [p.head_axis()], lambda b, head: b.store(b.alloc("x", p.seq_q, p.dim_v), t["O"].of(head), whole))


def program(body, **options):
    """An algorithm with one launch, `body(b, head, i, t, p, tile)`."""

    @tilescope.algorithm(name="tried", code=[(1, "tried", "")], features=tilescope.attention_features, **options)
    def tried(gpu, t, p, tile):
        rows = tilescope.Tiles(p.seq_q, tile.br, "i")
        gpu.launch("tried", [p.head_axis(), tilescope.uniform(rows)], lambda b, head, i: body(b, head, i, t, p, tile))
        zeros(gpu, t, p)

    return tried


class Equal(unittest.TestCase):
    def test_counts_and_numbers_of_flash_v2(self):
        for seed in range(150):
            flags = case(seed)
            with self.subTest(**flags):
                mine, theirs = tilescope.count(my_flash, **flags), tilescope.count("flash_v2", pack="off", **flags)
                self.assertEqual(mine.counters, theirs.counters)
                for key in ("sram_peak_bytes", "register_peak_bytes", "hbm_footprint_bytes"):
                    self.assertEqual(mine[key], theirs[key], key)
                self.assertEqual(tilescope.verify(my_flash, **flags), tilescope.verify("flash_v2", pack="off", **flags))
                if seed % 5 == 0:
                    mine, theirs = (tilescope.run(a, mode="numeric", pack="off", **flags) for a in (my_flash, "flash_v2"))
                    self.assertEqual(mine.traffic, theirs.traffic)
                    for name, o in theirs.outputs.items():
                        self.assertTrue(np.array_equal(o, mine.outputs[name], equal_nan=True))
                    self.assertEqual(mine.errors, theirs.errors)
                    self.assertEqual(mine.time_us is None, theirs.time_us is None)

    def test_large_problems_fold(self):
        flags = dict(heads=64, kv_heads=8, seq=100_000, causal=True, br=128, bc=64)
        self.assertEqual(tilescope.count(my_flash, **flags).counters, tilescope.count("flash_v2", **flags).counters)

    def test_a_study(self):
        vary = {"seq": [100, 1000, 3000], "kv_heads": [1, 8]}
        mine, theirs = (tilescope.study(a, vary, causal=True, br=64, bc=64) for a in (my_flash, "flash_v2"))
        for key in ("hbm_read_bytes", "hbm_write_bytes", "matmul_flops", "exps", "other_flops", "register_peak_bytes"):
            self.assertEqual(mine[key].tolist(), theirs[key].tolist(), key)

    def test_recorded_with_its_own_lines(self):
        mine, theirs = (tilescope.record(a, **SMALL) for a in (my_flash, "flash_v2"))
        worked = [[mine[k] for k in range(len(mine))], [theirs[k] for k in range(len(theirs))]]
        kinds = [sorted(s["operation"] for s in steps) for steps in worked]
        self.assertEqual(*kinds)
        source = pathlib.Path(sys.modules["my_flash"].__file__).read_text().splitlines()
        for step in worked[0]:
            if step["operation"] in ("exp_minus", "add_log", "update_row_sum"):
                self.assertIn("b." + step["operation"], source[step["line"] - 1])
                self.assertEqual(step["line"], step["source_line"])
        self.assertEqual(mine.replay(), "")

    def test_own_source_is_the_pseudo_code(self):
        lines = tilescope.explain(my_flash, **SMALL)["lines"]
        loads = [l for l in lines if "b.load(Q.of(head), i)" in l["code"]]
        self.assertEqual(loads[0]["why"], "once: it stays on chip")
        self.assertEqual(loads[0]["counters"]["hbm_read_bytes"], 2 * 32 * 8 * 2)
        steps = [l for l in lines if "b.matmul(o, s, v)" in l["code"]]
        self.assertEqual(steps[0]["visits"], 2 * 2 * 2)
        total = tilescope.count(my_flash, **SMALL).counters
        for key in ("hbm_read_bytes", "matmul_flops", "exps"):
            self.assertEqual(sum(l["counters"][key] for l in lines), total[key])

    def test_helpers_belong_to_the_line_that_calls_them(self):
        def zeroed(b, n):
            return b.alloc("x", n, 1)

        @tilescope.algorithm
        def with_helper(gpu, t, p, tile):
            def body(b, head):
                x = zeroed(b, p.seq_q)  # the helper is in another place
                b.exp(x)

            gpu.launch("with_helper", [p.head_axis()], body)
            zeros(gpu, t, p)

        record = tilescope.record(with_helper, **SMALL, values=False)
        step = next(record[k] for k in range(len(record)) if record[k]["operation"] == "alloc")
        self.assertEqual(step["source_line"], zeroed.__code__.co_firstlineno + 1)
        code = {l["line"]: l["code"] for l in tilescope.explain(with_helper, **SMALL)["lines"]}
        self.assertIn("zeroed(b, p.seq_q)", code[step["line"]])


@tilescope.algorithm(features=(*tilescope.score_features, "dropout"),
                     tensors=lambda p, tile: [tilescope.output("LSE", rows=p.seq_q)])
def finished_flash(gpu, t, p, tile):
    """my_flash with all changes of scores that FlashAttention-2 supports."""
    rows, keys = tilescope.Tiles(p.seq_q, tile.br, "i"), tilescope.Tiles(p.seq_k, tile.bc, "j")
    gpu.store_kept(t, p, rows, keys)

    def body(b, head, i):
        q = b.load(t["Q"].of(head), i)
        o, l = b.alloc("O", i.size, p.dim_v), b.alloc("l", i.size, 1)
        m = b.alloc("m", i.size, 1, fill=-float("inf"))

        @b.uniform(p.visible_keys(keys, i))
        def step(j):
            k, v = b.load(t["K"].of(head), j), b.load(t["V"].of(head), j)
            s = b.alloc("S", i.size, j.size)
            b.matmul(s, q, k, trans="b", alpha=p.logit_scale)
            b.finish_scores(s, p, t, head, i, j)
            c = b.alloc("c", i.size, 1)
            b.copy(c, m)
            b.update_row_max(m, s)
            b.exp_minus(c, m)
            b.exp_minus(s, m)
            b.scale_rows(l, c)
            b.update_row_sum(l, s)
            b.scale_rows(o, c)
            b.drop_scores(s, p, t, head, i, j)
            b.matmul(o, s, v)

        b.divide_rows(o, l)
        b.add_log(m, l)
        b.store(o, t["O"].of(head), i)
        b.store(m, t["LSE"].of(head), i)

    gpu.launch("finished_flash", [p.head_axis(), p.row_axis(rows, keys)], body)


class Scores(unittest.TestCase):
    FLAGS = dict(batch=2, heads=4, kv_heads=2, seq_q=50, seq_k=60, dim=16, br=16, bc=16, pack="off")

    def test_what_is_done_to_scores_is_what_flash_v2_does(self):
        for more in (dict(bias="hqk"), dict(bias="k", causal=True), dict(alibi=True), dict(soft_cap=5),
                     dict(dropout=0.3), dict(dropout=0.3, dropout_mask="stored", alibi=True, soft_cap=20, causal=True)):
            with self.subTest(**more):
                flags = {**self.FLAGS, **more}
                mine, theirs = (tilescope.run(a, mode="numeric", **flags) for a in (finished_flash, "flash_v2"))
                self.assertEqual(mine.counters, theirs.counters)
                self.assertEqual(mine.traffic, theirs.traffic)
                self.assertTrue(np.array_equal(mine.outputs["O"], theirs.outputs["O"]))
                self.assertEqual(mine.errors, theirs.errors)
                self.assertEqual(tilescope.verify(finished_flash, **flags), tilescope.verify("flash_v2", **flags))
        with self.assertRaises(tilescope.UsageError):
            tilescope.run(my_flash, **self.FLAGS, soft_cap=5)

    def test_tensors_of_another_run(self):
        kept = []

        @tilescope.algorithm(name="mixes", features=tilescope.score_features)
        def mixes(gpu, t, p, tile):
            kept.append(t)
            zeros(gpu, t, p)
            i = j = tilescope.Span(0, 4)
            gpu.launch("mixes", [p.head_axis()], lambda b, head: b.finish_scores(b.alloc("S", 4, 4), p, kept[0], head, i, j))

        tilescope.count(mixes, **SMALL)
        with self.assertRaises(tilescope.ProgramError) as raised:
            tilescope.count(mixes, **SMALL)
        self.assertIn("the tensors belong to another run, at source line ", str(raised.exception))


class Wrong(unittest.TestCase):
    def refused(self, error, body, mode=tilescope.verify, **flags):
        try:
            mode(program(body), **{**SMALL, **flags})
        except error as raised:
            return raised  # with its traceback, which assertRaises would remove
        self.fail("nothing was raised")

    def at_line(self, error, line, text):
        self.assertTrue(str(error).endswith(f", at source line {line} of {__file__}"), str(error))
        self.assertIn(text, str(error))

    def test_a_mask_that_is_left_out(self):
        @tilescope.algorithm(name="sees_all", features=tilescope.attention_features)
        def sees_all(gpu, t, p, tile):
            def body(b, head):
                rows, keys = tilescope.Span(0, p.seq_q), tilescope.Span(0, p.seq_k)
                q, k, v = b.load(t["Q"].of(head), rows), b.load(t["K"].of(head), keys), b.load(t["V"].of(head), keys)
                s, o = b.alloc("S", p.seq_q, p.seq_k), b.alloc("O", p.seq_q, p.dim_v)
                m, l = b.alloc("m", p.seq_q, 1), b.alloc("l", p.seq_q, 1)
                b.matmul(s, q, k, trans="b", alpha=p.logit_scale)
                b.row_max(m, s)
                b.exp_minus(s, m)
                b.row_sum(l, s)
                b.divide_rows(s, l)
                b.matmul(o, s, v)
                b.store(o, t["O"].of(head), rows)

            gpu.launch("sees_all", [p.head_axis()], body)

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tilescope.run(sees_all, **SMALL)
        said = r"sees_all: O: max [\d.]+, rms [\d.]+, which is no rounding beside values up to [\d.]+: the program computes " \
               r"something else, as where a mask is left out \(apply_mask\)"
        with self.assertWarnsRegex(RuntimeWarning, said):
            tilescope.run(sees_all, causal=True, **SMALL)

    def test_functions_with_other_arguments(self):
        def launches(body):
            @tilescope.algorithm(name="tried", features=tilescope.attention_features)
            def tried(gpu, t, p, tile):
                gpu.launch("tried", [p.head_axis()], body)
            return tried

        for body, said in ((lambda b, head, i: None, "missing 1 required positional argument: 'i'"),
                           (lambda b: None, "takes 1 positional argument but 2 were given")):
            with self.assertRaisesRegex(tilescope.ProgramError, "launch: the body is called with a thread block and a span for "
                                        f"the grid's one axis; .*{said}, at source line \\d+ of .*programs.py"):
                tilescope.count(launches(body), **SMALL)

        @tilescope.algorithm(name="two")
        def two(gpu, t):
            pass

        with self.assertRaisesRegex(tilescope.ProgramError, "a program is called with the GPU, its tensors, the problem and the "
                                    "tiles; .*takes 2 positional arguments but 4 were given"):
            tilescope.count(two, **SMALL)

    def test_a_verb_that_is_called_with_something_else(self):
        def body(b, head, i, t, p, tile):
            b.store(b.alloc("x", i.size, p.dim_v), t["O"].of(head), 0)

        with self.assertRaises(tilescope.ProgramError) as raised:
            tilescope.count(program(body), **SMALL)
        self.assertEqual(str(raised.exception),
                         "store: takes (tile: Tile, tensor: Hbm, rows: Span, cols: Optional[Span] = None), not (Tile, Hbm, "
                         f"0), at source line {body.__code__.co_firstlineno + 1} of {__file__}")

    def test_what_is_raised_inside_travels_out(self):
        def body(b, head, i, t, p, tile):
            raise ZeroDivisionError("mine")

        for mode in (tilescope.verify, tilescope.count, tilescope.run, tilescope.record):
            error = self.refused(ZeroDivisionError, body, mode)
            self.assertEqual(traceback.extract_tb(error.__traceback__)[-1].name, "body")
        with self.assertRaises(ZeroDivisionError):
            tilescope.study(program(body), {"seq": [32, 64]}, br=16, bc=16)

    def test_a_tile_that_outlives_its_block(self):
        kept = []

        def body(b, head, i, t, p, tile):
            if kept:
                kept.append(here() + 1)
                b.exp(kept[0])
            kept.append(b.alloc("x", 4, 4))

        error = self.refused(tilescope.ProgramError, body)
        self.at_line(error, kept[1], "a tile is used after its thread block ended")
        with self.assertRaises(tilescope.ProgramError):
            kept[0].rows
        gc.collect()

    def test_a_block_after_its_end_and_in_another(self):
        kept = []

        def body(b, head, i, t, p, tile):
            if kept:
                kept[0].alloc("x", 1, 1)
            kept.append(b)

        error = self.refused(tilescope.ProgramError, body)
        self.assertIn("a thread block is used after its end", str(error))
        with self.assertRaises(tilescope.ProgramError):
            kept[0].alloc("x", 1, 1)

    def test_a_tensor_and_a_gpu_of_another_run(self):
        kept = []

        def body(b, head, i, t, p, tile):
            if kept:
                b.load(kept[0].of(head), i)

        tried = program(body)

        @tilescope.algorithm(name="keeps")
        def keeps(gpu, t, p, tile):
            kept.extend([t["Q"], gpu, t])
            zeros(gpu, t, p)

        tilescope.verify(keeps, **SMALL)
        tried = program(body)
        with self.assertRaises(tilescope.ProgramError) as raised:
            tilescope.verify(tried, **SMALL)
        self.assertIn("tensor Q belongs to another run", str(raised.exception))
        for touch in (lambda: kept[1].note("late"), lambda: kept[1].launch("x", [], print), lambda: kept[2]["Q"]):
            with self.assertRaises(tilescope.ProgramError):
                touch()

    def test_places_that_are_not_there(self):
        lines = []

        def beyond(b, head, i, t, p, tile):
            lines.append(here() + 1)
            b.load(t["Q"].of(head), tilescope.Span(20, 16))

        self.at_line(self.refused(tilescope.ProgramError, beyond), lines[-1], "are not all in Q")

        def slice_beyond(b, head, i, t, p, tile):
            lines.append(here() + 1)
            b.load(t["Q"].slice(99), i)

        self.at_line(self.refused(tilescope.ProgramError, slice_beyond), lines[-1], "slice 99")

        def shapes(b, head, i, t, p, tile):
            x, y = b.alloc("x", 3, 4), b.alloc("y", 5, 6)
            lines.append(here() + 1)
            b.matmul(x, y, y)

        self.at_line(self.refused(tilescope.ProgramError, shapes), lines[-1], "matmul")
        for rows, cols in ((-1, 4), (1 << 40, 1 << 40), (1 << 31, 1 << 31)):
            self.refused(tilescope.ProgramError, lambda b, *_: b.alloc("x", rows, cols))

        def undeclared(b, head, i, t, p, tile):
            lines.append(here() + 1)
            t["nothing"]

        self.at_line(self.refused(tilescope.ProgramError, undeclared), lines[-1], "no tensor nothing but Q, K, V and O")

        def unstored(b, head, i, t, p, tile):
            lines.append(here() + 1)
            b.load(t["O"].of(head), i)

        self.at_line(self.refused(tilescope.ProgramError, unstored), lines[-1], "of O were not all stored before")
        self.refused(tilescope.UsageError, lambda b, *_: b.alloc("x", 1, 1, space="attic"))
        with self.assertRaises(tilescope.UsageError):
            tilescope.Tiles(4, 0)

    def test_a_promise_that_is_broken(self):
        lines = []

        def body(b, head, i, t, p, tile):
            def step(j):
                for _ in range(1 + j.begin // 16):
                    b.load(t["K"].of(head), j)

            lines.append(here() + 1)
            b.uniform(tilescope.Tiles(p.seq_k, tile.bc, "j"), step)

        error = self.refused(tilescope.BrokenPromise, body, seq=64)
        self.assertIn(f"uniform at source line {lines[0]} of {__file__}", str(error))
        self.assertEqual((error.launch, error.block), (0, 0))

    def test_a_race(self):
        def body(b, head, i, t, p, tile):
            b.store(b.alloc("x", 16, p.dim_v), t["O"].of(head), tilescope.Span(0, 16))

        error = self.refused(tilescope.Race, body)
        self.assertIn("O", str(error))
        self.assertEqual(error.block, 1)

    def test_what_does_not_fit(self):
        def body(b, head, i, t, p, tile):
            b.alloc("huge", 4096, 4096)

        error = self.refused(tilescope.DoesNotFit, body, tilescope.run)
        self.assertEqual(error.tile, "huge")
        self.assertIsInstance(error.__cause__, tilescope.DoesNotFit)
        self.assertEqual(traceback.extract_tb(error.__cause__.__traceback__)[-1].name, "body")
        rows = tilescope.study(program(body), {"seq": [32]}, br=16, bc=16).records()
        self.assertFalse(rows[0]["fits"])

    def test_what_a_program_catches_is_over(self):
        def body(b, head, i, t, p, tile):
            try:
                b.alloc("huge", 4096, 4096)
            except tilescope.DoesNotFit:
                b.alloc("small", 4, 4)

        tilescope.verify(program(body), **SMALL)

    def test_launches_in_a_block(self):
        @tilescope.algorithm(name="nested")
        def nested(gpu, t, p, tile):
            def body(b, head):
                gpu.launch("inner", [p.head_axis()], lambda b, head: None)

            gpu.launch("outer", [p.head_axis()], body)

        with self.assertRaises(tilescope.ProgramError):
            tilescope.verify(nested, **SMALL)

    def test_an_output_that_is_not_stored(self):
        @tilescope.algorithm(name="stores_nothing")
        def stores_nothing(gpu, t, p, tile):
            pass

        with self.assertRaises(tilescope.RunError) as raised:
            tilescope.verify(stores_nothing, **SMALL)
        self.assertIn("stores nothing in O", str(raised.exception))

    def test_features_that_it_does_not_have(self):
        @tilescope.algorithm(name="plain")
        def plain(gpu, t, p, tile):
            pass

        with self.assertRaises(tilescope.UsageError) as raised:
            tilescope.run(plain, causal=True)
        self.assertIn("plain does not", str(raised.exception))

    def test_names_and_words(self):
        for options, text in [(dict(name="flash_v2"), "there is one by that name already"), (dict(name="a b"), "letters"),
                              (dict(computes="everything"), "must be one of"), (dict(features=["wings"]), "must be one of"),
                              (dict(code=[(2, "a", ""), (1, "b", "")]), "comes after"), (dict(code=[(70000, "a", "")]), "65535")]:
            with self.assertRaises(tilescope.UsageError) as raised:
                tilescope.algorithm(**{"name": "named", "code": [], **options})(lambda gpu, t, p, tile: None)
            self.assertIn(text, str(raised.exception))

    def test_defined_again(self):
        made = []
        for n in (1, 2):
            @tilescope.algorithm(name="again")
            def again(gpu, t, p, tile, n=n):
                for _ in range(n):
                    zeros(gpu, t, p)

            made.append(again)
            self.assertEqual(tilescope.count(again, **SMALL).counters["launches"], n)
        with self.assertRaises(tilescope.UsageError) as raised:
            tilescope.count(made[0], **SMALL)
        self.assertIn("algorithm again: another one by that name was made after it", str(raised.exception))
        self.assertEqual([a["name"] for a in tilescope.algorithms()].count("again"), 1)

    def test_defined_while_something_runs(self):
        def body(b, head, i, t, p, tile):
            tilescope.algorithm(name="inner")(lambda gpu, t, p, tile: None)

        with self.assertRaises(tilescope.RunError) as raised:
            tilescope.verify(program(body), **SMALL)
        self.assertIn("while something runs", str(raised.exception))

    def test_many_threads_of_python(self):
        expected = tilescope.verify("flash_v2", **SMALL)
        found = []
        threads = [threading.Thread(target=lambda: found.append(tilescope.verify(my_flash, **SMALL))) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(found, [expected] * 8)


if __name__ == "__main__":
    unittest.main()
