#!/usr/bin/env python3
"""`import tilescope` gives what the command line prints; inputs and outputs are NumPy arrays.

    runs.py TILESCOPE        with the module on PYTHONPATH
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np

import tilescope

TILESCOPE = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
SHAPE = dict(heads=4, kv_heads=2, seq_q=300, seq_k=500, causal=True)
WORDS = "--heads 4 --kv-heads 2 --seq-q 300 --seq-k 500 --causal"


def printed(command):
    return subprocess.run([TILESCOPE, *command.split()], check=True, capture_output=True, text=True).stdout


class Runs(unittest.TestCase):
    def test_a_report_is_what_run_prints(self):
        for name, flags, words in [("flash_v2", SHAPE, WORDS), ("flash_v2_backward", dict(seq=200, br=64), "--seq 200 --br 64"),
                                   ("softmax_online", dict(seq_q=40, seq_k=900, gpu="a100"), "--seq-q 40 --seq-k 900 --gpu a100"),
                                   ("standard", dict(seq=4096, mode="count", l2=False), "--seq 4096 --mode count --l2 off"),
                                   ("split_kv", dict(seq_q=1, seq_k=9000, splits="fa3"), "--seq-q 1 --seq-k 9000 --splits fa3"),
                                   ("flash_v3", dict(seq=600, turns=False, slots=6, like="cudnn-9.19"),
                                    "--seq 600 --turns off --slots 6 --like cudnn-9.19")]:
            with self.subTest(name):
                self.assertEqual(tilescope.run(name, **flags).to_dict(), json.loads(printed(f"run {name} {words} --json")))

    def test_a_report_says_each_thing_once(self):
        r = tilescope.run("flash_v2", **SHAPE)
        whole = r.to_dict()
        for key, value in r.counters.items():
            self.assertEqual(value, whole["counters"][key])
            self.assertEqual(value, r[key])
        self.assertEqual(r.time_us, whole["time_us"])
        self.assertEqual(sum(t["read_bytes"] for t in r.traffic.values()), r.counters["hbm_read_bytes"])
        self.assertIsNone(tilescope.count("flash_v2", **SHAPE).time_us)
        self.assertEqual(tilescope.count("flash_v2", **SHAPE).counters, r.counters)
        with self.assertRaises(KeyError):
            r["no_such_metric"]

    def test_roles_of_warps_are_members_of_the_tiling(self):
        t = tilescope.count("flash_v3", seq=600, dim=128, overlap=False, persistent="counter").tiling
        self.assertEqual((t.br, t.bc, t.slots, t.warpgroups, t.cluster), (128, 176, 4, 2, 1))
        self.assertEqual((t.turns, t.overlap, t.specialised, t.persistent, t.like), ("on", "off", "on", "counter", ""))
        self.assertIn("overlap='off'", repr(t))
        t = tilescope.count("flash_v2", seq=600).tiling
        self.assertEqual((t.slots, t.turns), (0, ""))
        with self.assertRaisesRegex(tilescope.UsageError, "flash_v3"):
            tilescope.count("flash_v2", slots=4)

    def test_arrays_in_and_out(self):
        rng = np.random.default_rng(1)
        q, k, v = (rng.standard_normal((2, 4, n, 32)).astype(np.float16) for n in (70, 90, 90))
        r = tilescope.run("flash_v2", Q=q, K=k, V=v)
        o = r.outputs["O"]
        self.assertEqual((o.shape, o.dtype), ((2, 4, 70, 32), np.float16))
        self.assertFalse(o.flags.writeable)
        s = np.einsum("bhqd,bhkd->bhqk", q.astype(float), k.astype(float)) / np.sqrt(32)
        w = np.exp(s - s.max(-1, keepdims=True))
        expected = np.einsum("bhqk,bhkd->bhqd", w / w.sum(-1, keepdims=True), v.astype(float))
        self.assertLess(np.abs(o - expected).max(), 2e-3)
        swapped = [np.swapaxes(a, 1, 2) for a in (q, k, v)]
        self.assertTrue((np.swapaxes(tilescope.run("flash_v2", Q=swapped[0], K=swapped[1], V=swapped[2],
                                                   layout="bshd").outputs["O"], 1, 2) == o).all())
        one = tilescope.run("flash_v2", Q=q[0, 0], K=k[0, 0], V=v[0, 0]).outputs["O"]
        self.assertTrue((one == o[0, 0]).all())
        wide = tilescope.run("flash_v2", Q=q.astype("f4"), K=k.astype("f4"), V=v.astype("f4"))
        self.assertEqual((wide.outputs["O"].dtype, wide.problem.dtype), (np.float32, "f32"))
        x = rng.standard_normal((3, 5)).astype("f4")
        y = tilescope.run("softmax_safe", X=x).outputs["Y"]
        self.assertLess(np.abs(y - np.exp(x) / np.exp(x).sum(-1, keepdims=True)).max(), 1e-6)
        q[:] = 0  # inputs were copied
        self.assertTrue((one == o[0, 0]).all())

    def test_outputs_outlive_their_report(self):
        o = tilescope.run("flash_v2", seq=64, heads=1).outputs["O"]
        again = tilescope.run("flash_v2", seq=64, heads=1).outputs["O"]
        self.assertTrue((o == again).all())

    def test_a_run_says_its_mode(self):
        self.assertEqual(tilescope.run("flash_v2", seq=64).mode, "real numbers, seed 0")
        large = tilescope.run("flash_v2", heads=64, seq=32768)
        self.assertFalse(large.numeric)
        self.assertRegex(large.mode, "counts only: real numbers would take about .+ s, ask for them with --mode numeric")
        self.assertIn(large.mode, repr(large))
        with self.assertRaises(tilescope.RunError) as raised:
            large.outputs["O"]
        self.assertIn('run() with mode="numeric" has them', str(raised.exception))
        self.assertEqual(large.outputs, {})
        with self.assertRaises(tilescope.RunError) as raised:
            tilescope.run("flash_v2", seq=64).outputs["Out"]
        self.assertIn("no such output but LSE, O", str(raised.exception))
        self.assertEqual(tilescope.count("flash_v2", seq=64).mode, "counts only, as asked")

    def test_outputs_that_are_no_numbers_are_a_warning(self):
        flags = dict(seq=64, heads=1, softmax="naive", scale=100.0)
        with self.assertWarnsRegex(RuntimeWarning, "standard: O: .* of 4,096 outputs are NaN or infinite where the reference is not"):
            tilescope.run("standard", **flags)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tilescope.run("standard", seq=64, heads=1)

    def test_arrays_of_two_types(self):
        q, k = np.ones((2, 16, 8), np.float16), np.ones((2, 16, 8), np.float32)
        with self.assertRaises(tilescope.UsageError) as raised:
            tilescope.run("flash_v2", Q=q, K=k, V=q)
        self.assertEqual(str(raised.exception), 'K of float32: Q is of float16, and all are stored alike; try '
                                                'K.astype("float16"), or say dtype="f16" or "f32"')
        r = tilescope.run("flash_v2", Q=q, K=k, V=q, dtype="f32")
        self.assertEqual((r.problem.dtype, r.mode), ("f32", "real numbers, as given"))

    def test_what_is_no_algorithm_and_no_flag(self):
        def plain(gpu, t, p, tile):
            pass

        for call in (tilescope.run, tilescope.count, tilescope.verify, tilescope.explain, tilescope.record, tilescope.study):
            with self.assertRaises(tilescope.UsageError) as raised:
                call(plain, seq=64) if call is not tilescope.study else call(plain, {"seq": [64]})
            self.assertIn("plain: is no algorithm; give a name, or a function with @tilescope.algorithm", str(raised.exception))
        with self.assertRaises(tilescope.UsageError) as raised:
            tilescope.run("flash_v2", tile={"br": 64, "bc": 32})
        self.assertIn("give flags of their own, as in br=64, bc=32", str(raised.exception))
        self.assertEqual(repr(tilescope.problem(seq=64, causal=True)),
                         "Problem(batch=1, heads=8, kv_heads=8, seq_q=64, seq_k=64, dim=64, dim_v=64, dtype='f16', mask='causal')")

    def test_wrong_arrays(self):
        with self.assertRaises(tilescope.UsageError) as raised:
            tilescope.run("flash_v2", Q=np.zeros((0, 4), "f4"), K=np.zeros((4, 4), "f4"), V=np.zeros((4, 4), "f4"))
        self.assertIn("Q of shape (0, 4): has no elements", str(raised.exception))
        q = np.zeros((2, 64, 32), np.float16)
        for text, arrays in [("missing V", dict(Q=q, K=q)), ("of int64", dict(Q=q.astype(int), K=q, V=q)),
                             ("must be [2, 64, 32]", dict(Q=q, K=q, V=q[:, :60])),
                             ("is no input", dict(Q=q, K=q, V=q, dO=q)), ("of 1 dimension:", dict(Q=q[0, 0], K=q, V=q))]:
            with self.assertRaises(tilescope.UsageError) as raised:
                tilescope.run("flash_v2", **arrays)
            self.assertIn(text, str(raised.exception))
        with self.assertRaises(tilescope.UsageError):
            tilescope.run("flash_v2", Q=q, K=q, V=q, mode="count")

    def test_errors_are_the_command_lines(self):
        for flags, words in [(dict(heads=8, kv_heads=3), "--heads 8 --kv-heads 3"), (dict(dtype="f8"), "--dtype f8"),
                             (dict(seq=0), "--seq 0"), (dict(gpu="h1000"), "--gpu h1000"), (dict(dim="many"), "--dim many")]:
            with self.assertRaises(tilescope.UsageError) as raised:
                tilescope.run("flash_v2", **flags)
            said = subprocess.run([TILESCOPE, "run", "flash_v2", *words.split()], capture_output=True, text=True)
            self.assertEqual(said.returncode, 2)
            self.assertEqual("tilescope: " + str(raised.exception), said.stderr.strip())
        with self.assertRaises(tilescope.UsageError) as raised:
            tilescope.run("flash_v2", heads=8, kv_heads=3)
        e = raised.exception
        self.assertEqual((e.field, e.value, e.fix), ("kv_heads", "3", "2"))
        self.assertIsInstance(e, ValueError)
        with self.assertRaises(tilescope.DoesNotFit) as raised:
            tilescope.run("flash_v2", br=1024, bc=1024, seq=4096, mode="count")
        e = raised.exception
        self.assertEqual((e.space, e.tile, e.capacity), ("registers", "l", 262144))
        self.assertIn("this fits: --br", str(e))

    def test_build(self):
        said = json.loads(printed("doctor --json"))
        self.assertEqual(tilescope.__version__, said["version"])
        self.assertEqual(tilescope.build_info(), {key: said[key] for key in ("commit", "compiler", "cuda")})

    def test_machines(self):
        self.assertEqual([g.name for g in tilescope.gpus()],
                         [g["name"] for g in json.loads(printed("gpus --json"))["gpus"]])
        for g in tilescope.gpus():
            self.assertEqual(tilescope.gpu(json.loads(g.json())), g)
        mine = tilescope.gpu("a100", sms=64)
        self.assertEqual(mine.sms, 64)
        self.assertAlmostEqual(mine.tensor_tflops, 312 * 64 / 108)  # numbers that follow are scaled
        self.assertEqual(mine, tilescope.gpu({"base": "a100", "name": mine.name, "title": mine.title, "sms": 64}))
        self.assertEqual(tilescope.run("flash_v2", seq=128, gpu=tilescope.gpu("h100", sms=64))["time_basis"], "assumed")
        self.assertEqual(tilescope.run("flash_v2", seq=128, gpu=mine).gpu, mine)
        self.assertEqual(tilescope.run("flash_v2", seq=128, gpu={"base": "H100", "sms": 3}).gpu.sms, 3)
        with self.assertRaises(tilescope.UsageError) as raised:
            tilescope.gpu("a100", sms=-1)
        self.assertIn("sms", str(raised.exception))

    def test_metrics(self):
        keys = [m["key"] for m in tilescope.metrics()]
        self.assertIn("hbm_read_bytes", keys)
        self.assertEqual({m["evidence"] for m in tilescope.metrics()}, {"counted", "computed", "modelled"})

    def test_reconcile(self):
        for file in sorted((ROOT / "tests/device/ncu").glob("*.csv")):
            command = f"reconcile flash_v2 {file} --heads 16 --seq 4096 --json"
            said = subprocess.run([TILESCOPE, *command.split()], capture_output=True, text=True)
            with self.subTest(file.name):
                if said.returncode == 0:
                    self.assertEqual(tilescope.reconcile("flash_v2", str(file), heads=16, seq=4096), json.loads(said.stdout)["levels"])
                else:
                    with self.assertRaises(tilescope.UsageError) as raised:
                        tilescope.reconcile("flash_v2", str(file), heads=16, seq=4096)
                    self.assertEqual("tilescope: " + str(raised.exception), said.stderr.strip())


class Studies(unittest.TestCase):
    def test_records_are_what_sweep_prints(self):
        s = tilescope.study(["flash_v1", "flash_v2"], {"seq": [256, 1024], "br": [64, 1024]}, causal=True)
        expected = json.loads(printed("sweep flash_v1 flash_v2 --vary seq=256,1024 --vary br=64,1024 --causal --json"))["rows"]
        self.assertEqual(s.records(), expected)
        self.assertEqual(len(s), 8)
        self.assertFalse(s["fits"].all())
        self.assertEqual(s["seq_q"].tolist(), [256, 256, 1024, 1024] * 2)
        self.assertTrue(np.isnan(s["time_us"][~s["fits"]]).all())

    def test_counting_alone_counts_the_same(self):
        vary = [{"seq": n, "kv_heads": h} for n, h in [(100, 8), (1000, 4), (5000, 1)]]
        timed, counted = (tilescope.study("flash_v2", vary, time=time).records() for time in (True, False))
        for a, b in zip(timed, counted):
            for m in tilescope.metrics():
                if m["evidence"] == "counted" and b[m["key"]] is not None:
                    self.assertEqual(a[m["key"]], b[m["key"]], m["key"])
            self.assertIsNone(b["time_us"])
            self.assertEqual((a["hbm_read_bytes"] > 0, a["seq_q"]), (True, b["seq_q"]))

    def test_pandas_takes_records(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("without python3-pandas")
        frame = pandas.DataFrame(tilescope.study("flash_v2", {"seq": [64, 128]}, time=False).records())
        self.assertEqual(frame["hbm_read_bytes"].tolist(), [196608, 393216])

    def test_wrong_points(self):
        for vary in ({"sequence": [1]}, {"seq": [0]}, [{"seq": 1}, {"br": 2}]):
            with self.assertRaises(tilescope.UsageError):
                tilescope.study("flash_v2", vary)

    def test_other_threads_go_on(self):
        turns, done = [0], threading.Event()

        def count():
            while not done.is_set():
                turns[0] += 1
                time.sleep(0.001)

        other = threading.Thread(target=count)
        other.start()
        began = time.monotonic()
        tilescope.study("flash_v2", {"seq": range(2000, 2100)}, threads=1)
        took = time.monotonic() - began
        done.set()
        other.join()
        self.assertGreater(turns[0], took / 0.001 / 50)

    def test_ctrl_c(self):
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            tilescope.study("flash_v2", {"seq": range(20000, 40000)})
        self.assertLess(time.monotonic() - began, 10)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        tilescope.run("flash_v2", seq=64)  # a later run succeeds


class Recordings(unittest.TestCase):
    def test_a_file_and_a_run_of_ones_own(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/trace.json"
            printed(f"trace flash_v2 --seq 64 --heads 2 --br 32 --bc 32 --mode numeric -o {file}")
            read, own = tilescope.open_recording(file), tilescope.record("flash_v2", seq=64, heads=2, br=32, bc=32)
            self.assertEqual(len(read), len(own))
            for k in range(len(own)):
                self.assertEqual({**read[k], "source_file": ""}, {**own[k], "source_file": ""})
                a, b = read.values(k), own.values(k)
                self.assertTrue((a is None and b is None) or np.array_equal(a, b, equal_nan=True))
            self.assertEqual(read.replay(), "")
            own.save(f"{folder}/own.json")
            printed(f"replay {folder}/own.json")
            self.assertIn("LSE", own.tensors)
            with self.assertRaises(tilescope.UsageError):
                tilescope.open_recording(f"{folder}/none.json")
        with self.assertRaises(IndexError):
            own[len(own)]


if __name__ == "__main__":
    unittest.main()
