"""Makes a corpus with a program of any age: files that people may have kept, and what it said of them.

Usage: make.py TILESCOPE SOURCE_DIR FOLDER. SOURCE_DIR: of the same age. tests/cli/corpus.py and tests/show/corpus_test.cpp
open all of it with the program of today.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

# What is shown: an algorithm and its problem, as the window is asked for it.
SHOWN = {
    "plain": "flash_v2",
    "causal-race": "flash_v1 --seq 300 --causal --race standard --pace bytes --step 12 --light --break 3 7",
    "grouped": "flash_v2 --heads 8 --kv-heads 2 --seq 192 --br 64 --bc 64 --detail counters",
    "window": "flash_v2 --seq 512 --causal --window-left 128 --br 64 --bc 64 --view time",
    "ragged": "two_pass --seq-q 100 --seq-k 300 --dim 40 --dim-v 24 --dtype f32 --step 30",
    "naive": "standard --softmax naive --scale 10 --seq 256 --heads 2",
    "decode": "split_kv --seq-q 1 --seq-k 4096 --batch 4 --heads 16 --kv-heads 4",
    "pages": "split_kv --seq-q 1 --seq-k 1000 --page-size 128 --page-order permuted --heads 4",
    "documents": "flash_v2 --documents 300+200+524 --br 128 --bc 64",
    "blocks": "flash_v2 --block-mask butterfly --seq 1024 --mask-block 128",
    "bias": "flash_v2 --bias hqk --seq 256 --heads 4",
    "evoformer": "memory_efficient --bias bk+ghqk --batch 4 --bias-group 2 --seq 128 --heads 4",
    "alibi": "flash_v2 --alibi --causal --seq 512",
    "cap": "flash_v2 --soft-cap 30 --seq 512 --dtype bf16",
    "dropout": "flash_v2 --dropout 0.1 --dropout-seed 7 --seq 256 --br 64 --bc 64",
    "backward": "flash_v2_backward --seq 256 --heads 2 --causal",
    "softmax": "softmax_online --seq-q 64 --seq-k 1000 --br 16 --bc 128",
    "model": "flash_v2 --model llama-3-8b --seq 2048",
    "decoding-model": "split_kv --model llama-3-8b --phase decode --seq 2048 --batch 8",
    "machine": "flash_v2 --gpu A100 --sms 54 --sram 100 --hbm-bandwidth 900 --l2-bytes 10M",
    "without-l2": "flash_v1 --gpu RTX-4090 --l2 off --seq 512",
    "order": "flash_v2 --causal --order longest --blocks-per-sm 1 --heads 16 --seq 2048",
    "tiles": "flash_v2 --tiles paper --seq 2048",
    "toy": "flash_v2 --gpu toy --seq 16 --dim 4 --heads 1 --br 4 --bc 4 --dtype f32 --step 9",
    "distribution": "standard --seq 128 --heads 1 --distribution outliers --seed 3",
}
RECORDED = {
    "flash": "flash_v2 --gpu toy --seq 12 --dim 4 --heads 1 --br 4 --bc 4 --causal",
    "standard": "standard --gpu toy --seq 8 --dim 2 --heads 2 --br 4 --bc 4 --dtype f32",
    "split": "split_kv --gpu toy --seq-q 1 --seq-k 16 --dim 2 --heads 1 --bc 4 --splits 2",
    "backward": "flash_v2_backward --gpu toy --seq 8 --dim 2 --heads 1 --br 4 --bc 4",
    "softmax": "softmax_online --gpu toy --seq-q 4 --seq-k 16 --heads 1 --br 4 --bc 4",
}
WITH_VALUES = "flash"
CHANGED_GPU = {"base": "H100", "sms": 66, "hbm_gbs": 2000}
SWEPT = "flash_v1 flash_v2 standard --vary seq=256:1024:x2 --heads 4 --causal"


def said(binary, words):
    done = subprocess.run([binary, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def flags_of(binary):
    """The flags of `run`."""
    return set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", said(binary, ["run", "--help"]), re.M))


def of_workload(words, flags):
    """What of a window's words `run` understands, too."""
    kept, known = words[:1], False
    for word in words[1:]:
        if word.startswith("--"):
            known = word in flags
        if known:
            kept.append(word)
    return kept


def counted(binary, words):
    """What is counted; what is modelled may become better."""
    report = json.loads(said(binary, ["run", *words, "--mode", "count", "--json"]))
    modelled = ("dram", "l2")
    return {"words": words, "traffic": report["traffic"],
            "counters": {k: v for k, v in report["counters"].items() if not k.startswith(modelled)}}


def keys_of(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}".lstrip(".")
            yield from keys_of(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value[:1]:
            yield from keys_of(inner, path + "[]")


def main(binary, source, folder):
    folder = pathlib.Path(folder)
    source = pathlib.Path(source)
    flags = flags_of(binary)
    for part in ("states", "scenes", "recordings", "gpus"):
        (folder / part).mkdir(parents=True, exist_ok=True)

    expected, links = {}, []
    for name, words in SHOWN.items():
        words = words.split()
        (folder / f"states/{name}.json").write_text(json.dumps({"tilescope-gui": words}) + "\n")
        expected[f"states/{name}.json"] = counted(binary, of_workload(words, flags))
        links.append([name, "+".join(urllib.parse.quote(w, safe="-_.~,:=/") for w in words)])
    for scene in sorted((source / "scenes").glob("*.json")):
        shutil.copy(scene, folder / "scenes")
        words = json.loads(scene.read_text())["tilescope-gui"]
        try:
            expected[f"scenes/{scene.name}"] = counted(binary, of_workload(words, flags))
        except SystemExit:  # what does not fit is a scene, too
            expected[f"scenes/{scene.name}"] = {"words": words, "refused": True}
    for name in ("A100-40GB", "RTX-4090", "toy"):
        shutil.copy(source / f"gpus/{name}.json", folder / "gpus")
    (folder / "gpus/changed.json").write_text(json.dumps(CHANGED_GPU) + "\n")
    for gpu in sorted((folder / "gpus").glob("*.json")):
        tiles = ["--seq", "64", "--br", "4", "--bc", "4", "--dim", "4"] if gpu.stem == "toy" else ["--heads", "64"]
        run = counted(binary, ["flash_v2", *tiles, "--gpu", str(gpu)])
        run["words"][-1] = f"gpus/{gpu.name}"
        expected[f"gpus/{gpu.name}"] = run
    for name, words in RECORDED.items():
        mode = "numeric" if name == WITH_VALUES else "count"
        said(binary, ["trace", *words.split(), "--mode", mode, "-o", str(folder / f"recordings/{name}.json")])
    said(binary, ["sweep", *SWEPT.split(), "-o", str(folder / "sweep.csv")])
    report = json.loads(said(binary, ["run", "flash_v2", "--seq", "256", "--json"]))
    (folder / "expected.json").write_text(json.dumps(
        {"opened": expected, "links": links, "sweep": SWEPT.split(), "keys": sorted(set(keys_of(report)))},
        indent=None, separators=(",", ":")).replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
