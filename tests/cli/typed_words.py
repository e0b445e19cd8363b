#!/usr/bin/env python3
"""Words that people type for things that have another name here or are not modelled. The message says what there is. It
gives a command for the closest thing, which is carried out here, and the page on what is not modelled. Suggestions are
close to the word."""

import pathlib
import re
import sys

from cases import Tally, run

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent

# Arguments; a word that the message contains and, where it names a page, that page.
KNOWN = [
    ("run fa3", "flash_v3"), ("run flash_v2 --pingpong", "--turns"),
    ("compare flash_v2 flash_v3_backward", "backward pass"), ("run fa4", "FlashAttention-4"),
    ("run flash_attention", "flash_v2"), ("run flash1", "flash_v1"),
    ("run flash_decoding", "split_kv"), ("run paged_attention", "--page-size"), ("run flashmla", "MLA"),
    ("run sdpa", "PyTorch"), ("run naive", "standard"), ("run cutlass", "memory_efficient"), ("run cudnn", "cudnn-9.19"), ("run triton", "triton-ws"), ("run flashinfer", "library"),
    ("compare flash_v2 cudnn", "cudnn-9.19"), ("run pytorch", "pytorch-2.11"),
    ("run flex_attention", "--block-mask"), ("run ring_attention", "several GPUs"), ("run sage", "8-bit"),
    ("run linear_attention", "linear attention"),
    ("run flash_v2 --dtype fp8", "--dtype e4m3"), ("run flash_v2 --dtype fp8_e5m2", "--dtype e5m2"), ("run flash_v2 --dtype nvfp4", "8 bits"),
    ("run flash_v2 --dtype float8_e4m3fn", "--dtype e4m3"), ("run flash_v2 --dtype int8", "--kv-dtype i8"),
    ("run flash_v2 --dtype fp16", "f16"), ("run flash_v2 --dtype bfloat16", "bf16"), ("run flash_v2 --dtype tf32", "tf32"),
    ("run flash_v2 --gpu L40S", "RTX-4090"), ("run flash_v2 --gpu L4", "RTX-4090"), ("run flash_v2 --gpu A10G", "RTX-3090"),
    ("run flash_v2 --gpu A10", "RTX-3090"), ("run flash_v2 --gpu H20", "78 SMs"), ("run flash_v2 --gpu H800", "H100"),
    ("run flash_v2 --gpu MI300X", "AMD"), ("run flash_v2 --gpu GB200", "B200"), ("run flash_v2 --gpu RTX-5090", "RTX-4090"),
    ("run flash_v2 --gpu H100-PCIe", "114 SMs"), ("run flash_v2 --gpu H100-NVL", "3,900 GB/s"),
    ("run flash_v2 --gpu GH200", "4,000 GB/s"), ("run flash_v2 --gpu H800-PCIe", "another machine"),
    ("run flash_v2 --gpu Quadro_GV100", "870 GB/s"), ("run flash_v2 --gpu Tesla_M10", "no tensor cores"),
    ("run flash_v2 --gpu A100-SXM4-40GB_MIG_1g.5gb", "a MIG slice is another machine"),
    ("run flash_v2 --gpu TPUv5e", "SMs"), ("run flash_v2 --gpu M1-Max", "Apple's cores"), ("compare flash_v2@MI300X", "AMD"), ("sweep flash_v2 --vary gpu=L40S", "RTX-4090"),
    ("run flash_v2 --sliding-window 256", "window"), ("run flash_v2 --sliding_window=256", "window"),
    ("run flash_v2 --varlen", "varlen"), ("run flash_v2 --cu-seqlens 0,4", "varlen"), ("run flash_v2 --ring 8", "several GPUs"),
    ("run flash_v2 --tensor-parallel 8", "several GPUs"), ("run flash_v2 --cp 2", "several GPUs"),
    ("run flash_v2 --kv-cache-dtype fp8", "--kv-dtype"), ("run flash_v2 --sinks", "sink"), ("run flash_v2 --num-stages 3", "--slots"),
    ("run flash_v2 --num-warps 8", "warps"), ("run flash_v2 --attn-mask m.npy", "mask"), ("run flash_v2 --is-causal", "--causal"),
    ("run flash_v2 --top-left", "--window-right"), ("run flash_v2 --num-heads 8", "--heads"),
    ("run flash_v2 --num-kv-heads 2", "--kv-heads"), ("run flash_v2 --softmax-scale 1", "--scale"),
    ("run flash_v2 --block-size 64", "--br"), ("run flash_v2 --wgmma", "FlashAttention-3"), ("run flash_v2 --warp-specialize", "--specialised"),
    ("sweep flash_v2 --vary sliding-window=1,2", "window"),
]

# Arguments close to something known, and the suggestion.
CLOSE = [("run flahs_v2", "flash_v2"), ("run flash_v2_backwards", "flash_v2_backward"), ("run flash_v2 --haeds 4", "--heads"),
         ("run flash_v2 --dimm 4", "--dim"), ("run flash_v2 --gpu H100-SMX", "H100-SXM"), ("run flash_v2 --seqlen 4", "--seq"),
         ("plot rooflien -o a.svg", "roofline"), ("plot tiles --metric time -o a.svg", "time_us"),
         ("run flash_v2 --model lama-3-8b", "llama-3-8b"), ("runn flash_v2", "run")]

# Arguments that nothing is close to: nothing is suggested.
FAR = ["run nothing", "run flash_v2 --frobnicate", "run flash_v2 --gpu nope", "run flash_v2 --gpu X1", "run flash_v2 --model bloom",
       "plot nonsense -o a.svg", "plot tiles --metric happiness -o a.svg", "run flash_v2 --block-mask hilbert", "quux",
       "sweep flash_v2 --vary nonsense=1"]

# Keys of somebody else's GPU file, and the suggestion for each, if any.
KEYS = {"device_count": None, "interconnect": None, "smss": "sms", "hbm_gb": "hbm_gbs", "l2": "l2_bytes"}


# The part of the proposed command that uses the number typed.
TYPED = [("run flash_v2 --sliding-window 64", "--window-left 63`"), ("run flash_v2 --sliding-window=1024", "--window-left 1023`"),
         ("run flash_v2 --sliding-window", "--window-left 255`"), ("run flash_v2 --window-size -1", "--window-left 255`"),
         ("run flash_v2 --swa 1.5", "--window-left 255`"), ("run flash_v2 --sliding-window 0", "--window-left 255`"),
         ("sweep flash_v2 --vary sliding-window=128", "--window-left 127`"), ("run flash_v2 --num-heads 12", "--heads 12`"),
         ("run flash_v2 --context-length 1000", "--seq 1000`"), ("run flash_v2 --context-length 32k", "--seq 32k`"),
         ("run flash_v2 --max-seq-len=131072", "--seq 131072`"), ("run flash_v2 --ctx 1M", "--seq 1M`"),
         ("run flash_v2 --context-length long", "--seq 4096`"), ("run flash_v2 --sliding-window 4k", "--window-left 4095`"),
         ("run flash_v2 --headdim 64", "--dim 64`"), ("compare --context-length 32k", "--seq 32k`"),
         ("run flash_v2 --kv_heads 2", "--kv-heads 2`"), ("run flash_v2 --seqlen-q 1", "--seq-q 1`"),
         ("run flash_v2 --num-kv-heads 4", "--kv-heads 4`"), ("run flash_v2 --block-size 128", "--br 128 --bc 128`"),
         ("run flash_v2 --block-m 128", "--br 128`"), ("run flash_v2 --block_n 32", "--bc 32`"),
         ("run flash_v2 --precision fp16", "--dtype f16`"), ("run flash_v2 --precision=f32", "--dtype f32`"),
         ("run flash_v2 --precision fp8", "--dtype e4m3`"), ("run flash_v2 --device h100", "--gpu H100-SXM`"),
         ("run flash_v2 --device cuda:0", "--gpu A100`"), ("run flash_v2 --softmax-scale 1e-1", "--scale 1e-1`"),
         ("run flash_v2 --page-block-size 32", "--page-size 32`"), ("explain flash_v2 --num-warps 2", "--warps 2`"),
         ("run flash_v2 --softmax-scale 0.5", "--scale 0.5`"), ("run flash_v2 --softmax-scale=half", "--scale 0.125`")]


def one_line(tally, binary, words):
    r = run(binary, words)
    tally.check(r.returncode == 2 and r.stdout == "" and r.stderr.count("\n") == 1, f"{words}: {r.returncode}, {r.stderr!r}")
    return r.stderr


def check_known(binary, tally):
    for words, subject in KNOWN:
        said = one_line(tally, binary, words)
        tally.check(subject in said and "did you mean" not in said, f"{words}: {said!r}")
        command = re.search(r"try `tilescope ([^`]*)`", said)
        tally.check(command, f"{words}: names no command: {said!r}")
        if command:
            mode = [] if command[1].startswith("explain") else ["--mode", "count"]
            r = run(binary, command[1].split() + mode)
            tally.check(r.returncode == 0, f"{words}: `tilescope {command[1]}` ends with {r.returncode}: {r.stderr}")
        if page := re.search(r"see (docs/\S+\.md)", said):
            tally.check((SOURCE / page[1]).exists(), f"{words}: there is no {page[1]}")
            text = (SOURCE / page[1]).read_text()
            word = "preset" if "--gpu" in words or "gpu=" in words or "@" in words else subject
            tally.check(word.lower() in text.lower(), f"{words}: {page[1]} says nothing of {word!r}")


def check_typed(binary, tally):
    for words, has in TYPED:
        said = one_line(tally, binary, words)
        tally.check(has in said, f"{words}: {said!r} has not {has}")
        command = re.search(r"try `tilescope ([^`]*)`", said)[1]
        r = run(binary, command.split() + ([] if command.startswith("explain") else ["--mode", "count"]))
        tally.check(r.returncode == 0, f"{words}: {r.stderr}")


def check_suggestions(binary, tally):
    for words, meant in CLOSE:
        said = one_line(tally, binary, words)
        tally.check(f"did you mean {meant}?" in said, f"{words}: {said!r}")
    for words in FAR:
        said = one_line(tally, binary, words)
        tally.check("did you mean" not in said, f"{words}: {said!r}")
    for key, meant in KEYS.items():
        said = one_line(tally, binary, ["run", "flash_v2", "--gpu", '{"base": "A100-40GB", "%s": 4}' % key])
        proposed = re.search(r"did you mean (\w+)\?", said)
        tally.check((proposed and proposed[1]) == meant, f"{key}: {said!r}")


def main():
    binary, tally = sys.argv[1], Tally()
    check_known(binary, tally)
    check_typed(binary, tally)
    check_suggestions(binary, tally)
    tally.close()


main()
