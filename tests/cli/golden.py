#!/usr/bin/env python3
"""Compares what `tilescope` prints with approved files in tests/golden.

    golden.py BINARY              compare, but for what takes long
    golden.py BINARY --long       compare what takes long
    golden.py BINARY --approve    write what it prints now; look at the difference before you commit it
"""

import difflib
import os
import pathlib
import re
import sys

from cases import Tally, run

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"

# By name, so that a new algorithm changes no approved file; list.py tests what shows all algorithms.
ATTENTION = "standard three_pass two_pass flash_v1 flash_v2 memory_efficient chunked"

WIDTH = 120  # columns of a terminal, for output that people read
FOR_PROGRAMS = re.compile("^sweep|^plot|--json|--format|^trace")

NCU = "device/ncu"  # in tests/: files that Nsight Compute wrote

TOY = "--gpu toy --seq 16 --dim 4 --heads 1 --dtype f32 --br 4 --bc 4"

CASES = {
    "gpus": "gpus",
    "gpu_toy": "gpus show toy",
    "gpu_h100": "gpus show H100",
    "models": "models",
    "model_deepseek": "models show deepseek-v3",
    "models_json": "models show gpt-2 --json",
    "run_model_prefill": "run flash_v2 --model gpt-2 --mode count",
    "run_model_decode": "run flash_v2 --model llama-3-70b --phase decode --seq 4096 --batch 16 --mode count",
    "compare_model": f"compare {ATTENTION} --model deepseek-v3 --phase decode --mode count",
    "explain_model_changed": "explain flash_v2 --heads 8 --kv-heads 1 --model llama-3-70b --phase decode",
    "step_model": "step flash_v2 --model gpt-2 --to 2",
    "sweep_models": "sweep flash_v2 --vary model=llama-3-8b,mistral-7b --vary phase=prefill,decode --seq 2k",
    "compare_count": f"compare {ATTENTION} --mode count",
    "compare_numeric": f"compare {ATTENTION} --seq 200 --heads 2 --kv-heads 1 --causal",
    "compare_order": "compare flash_v2 flash_v2:order=rows --gpu H100 --heads 16 --seq 4096 --dim 128 --causal --mode count",
    "compare_passes": "compare standard standard:passes=typed standard:passes=math flash_v2 --seq 4096 --mode count",
    "compare_softmax": "compare softmax_naive softmax_safe softmax_online --seq-q 100 --seq-k 25000 --mode count",
    "compare_toy": f"compare {ATTENTION} --gpu toy --seq 16 --dim 4 --heads 1 --dtype f32 --mode count",
    "compare_variants": "compare flash_v2:br=64,bc=64 flash_v2@H100 flash_v1:seq=2048 --mode count",
    "compare_no_fit": "compare standard flash_v2:br=1024,bc=1024,seq=1000000@RTX-4090 --mode count",
    "compare_large": f"compare {ATTENTION} --seq 1048576 --batch 15 --heads 32",
    "compare_markdown": "compare standard flash_v2 flash_v2:br=128,bc=128 --mode count --format markdown",
    "compare_latex": "compare standard flash_v2 flash_v2:br=128,bc=128 --mode count --format latex",
    "compare_csv": "compare flash_v2:br=64,bc=64 flash_v2:br=1024,bc=1024 --mode count --format csv",
    "compare_json": "compare flash_v2:br=64,bc=64@toy flash_v2:br=4,bc=4@toy --seq 16 --dim 4 --mode count --json",
    "explain_large": "explain three_pass --seq 1048576 --batch 15 --heads 32",
    "run_large": "run standard --seq 1048576 --batch 15 --heads 32",
    "gpus_json_toy": "gpus show toy --json",
    "gpu_b200": "gpus show B200",
    "sweep_one": "sweep flash_v1 flash_v2@H100",
    "run_flash_v1": "run flash_v1 --mode count",
    "run_flash_v2": "run flash_v2 --mode count --causal --seq-q 1000 --seq-k 1500",
    "run_flash_v2_json": "run flash_v2 --mode count --json",
    "run_backward": "run flash_v2_backward --heads 4 --kv-heads 2 --seq 1000 --causal --mode count",
    "explain_backward": "explain flash_v2_backward --heads 1",
    "compare_backward": "compare standard_backward flash_v1_backward flash_v2_backward two_pass_backward --seq 200 "
                        "--heads 2 --kv-heads 1 --causal",
    "compare_with_forward": "compare standard_backward flash_v2_backward --with forward --mode count",
    "run_bias_gradients": "run memory_efficient_backward --batch 2 --heads 2 --seq 200 --bias bk+hqk --dropout 0.1 "
                          "--splits 2",
    "step_backward": f"step flash_v2_backward {TOY} --launch 2 --to 30",
    "run_numeric_json": "run chunked --seq 100 --heads 1 --json",
    "run_standard": "run standard --mode count",
    "run_standard_streams": "run standard --mode count --seq 100000 --heads 1",
    "run_naive": "run standard --softmax naive --scale 100 --seq 128 --heads 1 --dtype f32",
    "run_split_kv": "run split_kv --seq-q 1 --seq-k 8192 --dim 128 --gpu A100 --mode count",
    "step_split_kv": "step split_kv --gpu toy --seq-q 2 --seq-k 6 --dim 2 --heads 1 --br 2 --bc 2 --splits 2 --launch 2",
    "run_pages": "run split_kv --batch 3 --heads 4 --kv-heads 2 --seq-q 1 --seq-k 300 --page-size 48 --page-order permuted --shared-prefix 100",
    "run_window": "run flash_v2 --seq 1000 --causal --window-left 255 --heads 2 --mode count",
    "run_documents": "run flash_v1 --seq-q 100 --seq-k 150 --heads 2 --documents 40+60+50 --causal --br 16 --bc 16",
    # 8 x 8 scores in four tiles; 3 x 3 and 5 x 5 of them are seen, so 30 of 64 are masked.
    "explain_documents": "explain flash_v2 --gpu toy --seq 8 --dim 4 --heads 1 --dtype f32 --br 4 --bc 4 --documents 3+5",
    "explain_blocks": "explain flash_v1 --seq 1024 --heads 1 --br 128 --bc 128 --block-mask butterfly",
    "sweep_window": "sweep flash_v2 --seq 4096 --causal --vary window-left=128,512",
    "run_bias": "run memory_efficient --batch 4 --heads 2 --seq 100 --dim 32 --bias bk+ghqk --bias-group 2",
    "run_dropout": "run flash_v2 --seq 200 --heads 2 --alibi --soft-cap 30 --dropout 0.1 --dropout-mask stored",
    "sweep_dropout": "sweep standard flash_v2 --seq 256 --vary dropout=0,0.1 --vary bias=none,k,hqk",
    "sweep_splits": "sweep split_kv --seq-q 1 --seq-k 4096 --vary splits=1,2,4,fa2,fa3",
    "no_fit": "run flash_v2 --br 256 --bc 1024 --mode count",
    "explain_flash_v1": "explain flash_v1",
    "explain_flash_v2": "explain flash_v2",
    "explain_flash_v3": "explain flash_v3 --dim 128 --causal",
    "explain_standard": "explain standard --gpu toy --seq 16 --dim 4 --heads 1 --dtype f32",
    "timeline_flash_v2": "timeline flash_v2 --gpu H200 --heads 64 --seq 4096 --dim 128",
    "timeline_flash_v1": "timeline flash_v1 --gpu H200 --heads 64 --seq 4096 --dtype f32 --br 64 --bc 64",
    "timeline_standard": "timeline standard --gpu H200 --seq 2048 --dtype f32 --br 64 --bc 64",
    "timeline_variants": "timeline flash_v2 flash_v1:br=64,bc=64 --gpu H200 --heads 64 --seq 4096",
    "timeline_lanes": "timeline flash_v3 --gpu H100 --dim 128 --lanes --cycle 1000",
    "timeline_four_lanes": "timeline flash_v3:warpgroups=1,br=64 flash_v3:turns=off,overlap=off flash_v3:overlap=off flash_v3 --gpu H100 --dim 128 --bc 128 --lanes",
    "timeline_two_batons": "timeline flash_v3:like=cudnn-9.19,turns=on --gpu H100 --dim 128 --lanes",
    "timeline_softmax": "timeline softmax_online --seq 4096 --gpu A100",
    "advise": "advise flash_v2 --dim 128",
    "advise_sm_traffic": "advise flash_v1 --objective sm-traffic --gpu A100 --bc 128",
    "advise_vary": "advise flash_v2 --vary seq=512:8192:x4",
    "plot_io_vs_n": "plot io-vs-n --data --vary seq=256:64k:x4",
    "plot_io_vs_d": "plot io-vs-d --data",
    "plot_io_vs_sram": "plot io-vs-sram --data --vary sram=8:128:x2",
    "plot_io_vs_block": "plot io-vs-block --data",
    "plot_footprint": "plot footprint --data --vary seq=256:64k:x4",
    "plot_waves": "plot waves --data --vary heads=1:40:+3",
    "plot_roofline": "plot roofline --data",
    "plot_ladder": "plot ladder --data",
    "compare_without_dram": "compare flash_v1 flash_v2 --gpu T4 --heads 64 --seq 16384",
    "plot_forward_backward": "plot forward-backward --data",
    "plot_tiles": "plot tiles --data --vary br=64,128,256,512 --vary bc=64,128,256",
    "plot_timeline": "plot timeline --data --heads 2 --seq 1024",
    "plot_loop_order": "plot loop-order --data --seq 512 --causal",
    "list_metrics": "list --metrics",
    "plot_lanes": "plot lanes flash_v3 --data",
    "timeline_json": "timeline flash_v2 --gpu H100 --seq 1000 --causal --json",
    "timeline_large": "timeline flash_v2 --heads 16 --seq 1048576 --dim 128 --causal --gpu H200 --br 128 --bc 64",
    "explain_warps": "explain flash_v2 --heads 1 --br 64 --bc 256",
    "explain_warps_backward": "explain flash_v1_backward --heads 1 --br 16 --bc 256",
    "explain_json": "explain memory_efficient --seq 256 --json",
    "sweep_csv": "sweep flash_v1 flash_v2 --vary seq=256:1024:x2 --vary bc=64,128 --br 64",
    "sweep_roles": "sweep flash_v3 flash_v3:like=cudnn-9.19 --vary turns=on,off --vary slots=2,4 --heads 16 --seq 4096 --dim 128",
    "sweep_l2": "sweep flash_v2 --vary l2-bytes=0,1M,4M,1G --seq 8192 --heads 32",
    "sweep_json": "sweep flash_v2 --vary sram=8,64 --br 64 --bc 64 --json",
    "step_blackboard": f"step flash_v2 {TOY} --table",
    "step_standard": f"step standard {TOY} --from 20 --to 34",
    "step_causal": f"step flash_v2 {TOY} --causal --block 1",
    "step_grouped": "step flash_v2 --gpu toy --seq 10 --dim 4 --heads 4 --kv-heads 2 --br 4 --bc 4 --sm 1 --line 9",
    "step_at": f"step flash_v2 {TOY} --at 24",
    "step_lanes": "step flash_v3 --gpu H100 --heads 1 --seq 512 --dim 128 --bc 128 --from 8 --to 24",
    "step_lanes_at": "step flash_v3 --gpu H100 --heads 1 --seq 512 --dim 128 --bc 128 --at 20",
    "step_large": "step flash_v2 --seq 16384 --heads 64 --table --from 95 --to 110",
    "step_tiles": "step flash_v2 --seq 256 --heads 1 --br 64 --bc 64 --to 8",
    "step_json": "step flash_v2 --gpu toy --seq 4 --dim 2 --heads 1 --dtype f32 --br 2 --bc 2 --from 4 --to 6 --json",
    "step_no_fit": "step flash_v2 --br 256 --bc 1024 --launch 1 --block 0 --line 7",
    "measured": "measured --gpu H200 --dim 32",
    "measured_summary": "measured",
    "measured_pytorch": "measured --kernel pytorch --dim 96 --no-causal",
    "measured_markdown": "measured flash_v1 flash_v2 --seq 4096 --dim 64 --causal --br 64 --bc 64 --gpu H200 --format markdown",
    "measured_csv": "measured memory_efficient --dim 128 --heads 16 --format csv",
    "measured_json": "measured flash_v2 --kernel tilescope --gpu H200 --dtype bf16 --seq 4097 --json",
    "measured_none": "measured flash_v2 --dim 48 --seq 4096 --causal",
    "reconcile_how": "reconcile flash_v2 --heads 16 --seq 4096 --causal",
    "reconcile_f32": f"reconcile flash_v2 {NCU}/flash_v2_f32.csv --heads 16 --seq 1000 --dtype f32 --causal --br 64 --bc 64",
    "reconcile_f16": f"reconcile flash_v2 {NCU}/flash_v2_f16.csv --heads 16",
    "reconcile_launches": f"reconcile standard {NCU}/standard_f32.csv --heads 4 --seq 500 --dtype f32 --br 128 --bc 64",
    "reconcile_pytorch": f"reconcile flash_v2 {NCU}/pytorch_f16.csv --heads 16 --seq 4096 --only flash_fwd",
    "reconcile_backward": f"reconcile flash_v2_backward {NCU}/flash_v2_backward_f32.csv --heads 16 --seq 1024 --dtype f32 "
                          "--br 64 --bc 64",
    "reconcile_others": f"reconcile flash_v1 {NCU}/pytorch_f16.csv --heads 16 --seq 4096",
    "reconcile_details": f"reconcile flash_v2 {NCU}/pytorch_details.csv --heads 16 --seq 4096 --gpu H200",
    "reconcile_full": f"reconcile flash_v2 {NCU}/pytorch_full.csv --heads 16 --seq 4096 --gpu H200",
    "reconcile_lines": f"reconcile flash_v2 {NCU}/pytorch_lines.csv --heads 16 --seq 4096 --gpu H200",
    "reconcile_lanes": f"reconcile flash_v3 {NCU}/flash_v3_f16.csv --gpu H200 --heads 16 --seq 1000 --dim 128 --bc 128 "
                       "--cluster 1 --persistent paired",
    "reconcile_json": f"reconcile flash_v2 {NCU}/flash_v2_f16.csv --heads 16 --json",
    "trace_toy": "trace flash_v2 --gpu toy --seq 4 --dim 2 --heads 1 --dtype f32 --br 2 --bc 2 --mode count -o /dev/stdout",
}


LONG = ("measured_summary",)  # models all that was measured

# Take minutes under a sanitizer; other cases run all code that these run.
SLOW = ("plot_footprint", "plot_io_vs_n", "plot_io_vs_sram", "run_standard_streams", "advise_vary",
        "advise_sm_traffic")


def normalise(text):
    """Hides what depends on the machine: rounding errors, which vary with its vector instructions."""
    text = re.sub(r'("(?:max_abs|rms)(?:_error)?": )[0-9.e+-]+', r"\1<error>", text)
    text = re.sub(r"max [0-9.e+-]+, rms [0-9.e+-]+", "max <error>, rms <error>", text)
    # Rates with all digits: the last ones vary with the order of additions.
    text = re.sub(r"(?<![\w.])\d{9,}\.\d+", lambda e: f"{float(e[0]):.10g}", text)
    # Values of tiles, one element per line.
    text = re.sub(r"(?<![\w.])-?\d+\.\d{7,}(e[-+]?\d+)?", lambda e: f"{float(e[0]):.5g}", text)
    lines = []
    for line in text.splitlines():
        if re.match(r"\w+ +\d+ x \d+ ", line):
            line = re.sub(r" +[0-9.]+(e-\d+)?$", " <error>", line) if "<error>" not in line else line
        lines.append(line.rstrip())
    return "\n".join(lines) + "\n"


def main():
    binary, flags = sys.argv[1], sys.argv[2:]
    approve = "--approve" in flags
    left_out = () if approve else set(CASES).difference(LONG) if "--long" in flags else LONG
    if "--sanitized" in flags:
        left_out += SLOW
    tally = Tally()
    for name, args in CASES.items():
        if name in left_out:
            continue
        result = run(os.path.abspath(binary), args, cwd=GOLDEN.parent)
        text = f"$ tilescope {args}\n" + normalise(result.stdout)
        if result.returncode or result.stderr:
            text += f"--- standard error, exit {result.returncode}\n" + normalise(result.stderr)
        file = GOLDEN / f"{name}.txt"
        if approve:
            file.write_text(text)
        approved = file.read_text() if file.exists() else ""
        difference = difflib.unified_diff(approved.splitlines(), text.splitlines(), "approved", "now", lineterm="", n=0)
        if not FOR_PROGRAMS.search(args):
            wide = [line for line in result.stdout.splitlines() if len(line) > WIDTH and "see it:" not in line]
            tally.check(not wide, f"{name}: more than {WIDTH} columns:\n" + "\n".join(wide))
        tally.check(approved == text, f"{name}: differs from {file}\n" + "\n".join(list(difference)[:20]))
    stray = {f.stem for f in GOLDEN.glob("*.txt")} - set(CASES)
    tally.check(not stray, f"golden files without a case: {sorted(stray)}")
    tally.close()


if __name__ == "__main__":
    main()
