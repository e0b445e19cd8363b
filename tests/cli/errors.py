#!/usr/bin/env python3
"""Bad requests: each ends with one clear line, the right exit code, and nothing half-written."""

import os
import pathlib
import re
import sys
import tempfile

from cases import Tally, run

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
NCU = SOURCE / "tests/device/ncu"

# Arguments, exit code, what the message must contain.
REQUESTS = [
    ("", 2, "subcommand"),
    ("run", 2, "ALGO"),
    ("run flash_v9", 2, "did you mean flash_v1"),
    ("compare flash_v2 softmax_safe", 2, "one computation at a time"),
    ("run flash_v2 --frobnicate", 2, "--frobnicate"),
    ("run flash_v2 --seq 0", 2, "--seq 0"),
    ("run flash_v2 --seq -4", 2, "--seq -4"),
    ("run flash_v2 --seq 1.5", 2, "whole number"),
    ("run flash_v2 --seq", 2, "--seq"),
    ("run flash_v2 --seq 1152921504606846976", 2, "2^40"),
    ("run flash_v2 --seq 99999999999999999999999", 2, "too large"),
    ("run flash_v2 --seq 1099511627776", 2, "2^56"),
    ("run flash_v2 --batch 0", 2, "--batch 0"),
    ("run flash_v2 --heads 6 --kv-heads 4", 2, "--kv-heads 4"),
    ("run flash_v2 --kv-heads 16", 2, "--kv-heads 16"),
    ("run flash_v2 --dim 0", 2, "--dim 0"),
    ("run flash_v2 --dtype f8", 2, "--dtype f8"),
    ("run flash_v2 --scale nan", 2, "--scale"),
    ("run flash_v2 --scale x", 2, "--scale x"),
    ("run flash_v2 --softmax odd", 2, "--softmax odd"),
    ("run flash_v2 --softmax naive", 2, "standard does"),
    ("compare flash_v2 standard --softmax naive", 2, "--softmax naive: flash_v2"),
    ("run flash_v2 --br 0", 2, "--br 0"),
    ("run flash_v2 --bc many", 2, "--bc many"),
    ("run flash_v2 --br 99999999999", 2, "--br"),
    ("run standard --page-size 16", 2, "--page-size 16: standard does not do K and V in pages; flash_v2, split_kv do"),
    ("run flash_v2 --page-size 0", 2, "--page-size 0: must be from 1 to 2^40; try --page-size 1"),
    ("run flash_v2 --page-order permuted", 2, "--page-order permuted: is of K and V in pages: give the size of a page"),
    ("run flash_v2 --page-order shuffled --page-size 4", 2, "--page-order shuffled"),
    ("run flash_v2 --shared-prefix 64", 2, "--shared-prefix 64: is of K and V in pages: give the size of a page"),
    ("run flash_v2 --page-size 16 --shared-prefix 64", 2, "--shared-prefix 64: there is one sequence"),
    ("run flash_v2 --batch 2 --page-size 16 --shared-prefix 8", 2, "less than a page of 16 keys"),
    ("run flash_v2 --batch 2 --page-size 16 --shared-prefix 2000", 2, "must be at most the 1024 keys of a sequence"),
    ("run flash_v2 --batch 1000000 --seq-q 1 --seq-k 1000000 --page-size 1", 2, "makes more than 2^30 pages; try --page-size 256"),
    ("run softmax_safe --page-size 16", 2, "--page-size: means nothing to a softmax kernel"),
    ("validate split_kv --page-size 16", 2, "--page-size 16: "),
    ("run flash_v2 --window-left -1", 2, "--window-left -1: must be from 0"),
    ("run flash_v2 --scores f32", 2, "--scores f32: flash_v2 does not do types of S and P of their own; standard does"),
    ("run standard --scores fp32", 2, "--scores fp32: must be f32, f16, bf16, e4m3 or e5m2 (K and V: or i8); try --scores f32"),
    ("run standard_backward --scores f32", 2, "--scores f32: standard_backward does not do types of S and P of their own; standard does, or leave it out"),
    ("run flash_v2_backward --softmax naive", 2, "--softmax naive: flash_v2_backward does not do the naive softmax; standard does, or leave it out"),
    ("run flash_v2_backward --page-size 16", 2, "--page-size 16: flash_v2_backward does not do K and V in pages; flash_v2, split_kv do, or leave it out"),
    ("run standard --weights bf16", 2, "--weights bf16: must be f32, or as O is: f16; try --weights f32"),
    ("run flash_v2 --causal-corner top-left", 2, "--causal-corner top-left: says where queries stand among the keys, and there is neither mask nor ALiBi"),
    ("run flash_v2 --causal --causal-corner upper-left", 2, "--causal-corner upper-left: must be bottom-right or top-left"),
    ("run softmax_safe --mask-block 64", 2, "--mask-block: means nothing to a softmax kernel"),
    ("run flash_v2 --causal --window-right 4", 2, "--window-right 4: --causal hides all keys after a query"),
    ("run flash_v2 --documents 300+200", 2, "--documents 500 keys in 2: must add up to the 1024 keys of a sequence"),
    ("run flash_v2 --documents 300,724", 2, "--documents 300,724: must be numbers of keys that add up to all, as in 300+200+524"),
    ("run flash_v2 --documents 0x4", 2, "--documents 0x4: must be numbers of keys"),
    ("run flash_v2 --block-mask butterfyl", 2, "did you mean butterfly? Patterns are butterfly, band:N"),
    ("run flash_v2 --block-mask band", 2, "--block-mask band: needs a number; try --block-mask band:2"),
    ("run flash_v2 --block-mask random:2", 2, "--block-mask random:2: the share must be from 0 to 1; try random:0.25"),
    ("run flash_v2 --block-mask no/such.txt", 2, "--block-mask no/such.txt: cannot be read"),
    ("run flash_v2 --block-mask butterfly --mask-block 0", 2, "--mask-block 0"),
    ("run flash_v2 --block-mask butterfly --mask-block 1 --seq 16k", 2, "more than 2^26; try --mask-block 1024"),
    ("run flash_v2 --mask-block 64", 2, "--mask-block 64: is of --block-mask; give a pattern or a file, too"),
    ("run softmax_safe --window-left 4", 2, "--window-left: means nothing to a softmax kernel"),
    ("run softmax_safe --block-mask butterfly", 2, "--block-mask: means nothing to a softmax kernel"),
    ("run flash_v2 --bias kq", 2, "--bias kq: must be axes out of b or g, h, q, and k last"),
    ("run flash_v2 --bias hqk+", 2, "--bias hqk+: must be axes"),
    ("run flash_v2 --bias k+k+k", 2, "--bias k+k+k: must be axes"),
    ("run flash_v2 --bias hqk --bias-group 2", 2, "--bias-group 2: is of a bias with g for its groups"),
    ("run flash_v2 --batch 6 --bias ghqk --bias-group 4", 2, "--bias-group 4: must divide the batch of 6; try --bias-group 2"),
    ("run flash_v2 --bias-file b.npy", 2, "--bias-file b.npy: there is no such bias"),
    ("run flash_v2 --heads 8 --kv-heads 2 --pack on --bias hqk", 2, "--pack on: rows of several heads share no row"),
    ("run memory_efficient_backward --splits fa2", 2, "--splits fa2: memory_efficient_backward has a rule of its own; give a number, or auto"),
    ("run flash_v2 --with forward", 2, "--with forward: flash_v2 is no backward pass; standard_backward, flash_v1_backward, "),
    ("compare flash_v2_backward --with backward", 2, "--with backward: must be forward"),
    ("sweep softmax_safe --with forward", 2, "--with forward: softmax_safe is no backward pass"),
    ("run flash_v2_deterministic_backward --splits fa3", 2, "flash_v2_deterministic_backward has a rule of its own"),
    ("run flash_v2_backward --splits 4", 2, "--splits 4: flash_v2_backward does not cut the keys into parts; flash_v2_deterministic_backward, memory_efficient_backward do"),
    ("run standard_backward --dropout 0.1", 2, "standard_backward does not do dropout; flash_v1_backward, flash_v2_backward, "),
    ("run flash_v2_backward --bias qk", 2, "--bias qk: flash_v2_backward does not do a bias; memory_efficient_backward does, or leave it out"),
    ("run two_pass_backward --alibi", 2, "--alibi: two_pass_backward does not do ALiBi; flash_v2_backward"),
    ("run memory_efficient_backward --soft-cap 5", 2, "memory_efficient_backward does not do a soft-cap; flash_v2_backward"),
    ("run flash_v2 --soft-cap 0", 2, "--soft-cap 0: must be a finite number above 0; try --soft-cap 50"),
    ("run flash_v2 --soft-cap high", 2, "--soft-cap high"),
    ("run flash_v2 --alibi=perhaps", 2, "alibi"),
    ("run flash_v2 --dropout 1", 2, "--dropout 1: must be from 0 to below 1; try --dropout 0.1"),
    ("run flash_v2 --dropout-seed 7", 2, "--dropout-seed 7: is of dropout: give its probability"),
    ("run flash_v2 --dropout-mask stored", 2, "--dropout-mask stored: is of dropout"),
    ("run flash_v2 --dropout 0.1 --dropout-mask kept", 2, "--dropout-mask kept: must be regenerated or stored"),
    ("run split_kv --dropout 0.1", 2, "--dropout 0.1: split_kv does not do dropout; standard, flash_v1, flash_v2, memory_efficient do"),
    ("run softmax_safe --bias qk", 2, "--bias: means nothing to a softmax kernel"),
    ("validate flash_v1 --window-left 4", 2, "--window-left 4: flash_v1 has no kernel for it with --dtype f32 --dim 64 --dim-v 64 here; try flash_v2 --dtype f32 --br 64 --bc 64"),
    ("validate flash_v2 --documents 2x512 --br 128", 2, "--documents 2x512: flash_v2 has no kernel for it"),
    ("validate flash_v2 --dtype f16 --bias hqk", 2, "--bias hqk: flash_v2 has no kernel for it with --dtype f16 --dim 64 --dim-v 64 here; try flash_v2 --dtype f32"),
    ("validate flash_v3 --dtype f16 --dim 128 --slots 5", 2, "--dtype f16 --dim 128 --dim-v 128 --slots 5: flash_v3 has no such kernel"),
    ("validate flash_v3 --dtype e5m2 --dim 128", 2, "--dtype e5m2 --dim 128 --dim-v 128: flash_v3 has no such kernel"),
    ("validate flash_v2 --dtype e4m3", 2, "--dtype e4m3 --dim 64 --dim-v 64: flash_v2 has no such kernel"),
    ("validate flash_v3 --dtype f16 --kv-dtype e4m3", 2, "--kv-dtype e4m3: no kernel has Q, K or V in 8 bits"),
    ("validate flash_v3 --dtype f16 --window-left 4", 2, "--window-left 4: flash_v3 has no kernel for it"),
    ("validate flash_v1 --alibi", 2, "--alibi: flash_v1 has no kernel for it"),
    ("validate flash_v2 --soft-cap 30 --dim 72", 2, "--soft-cap 30: flash_v2 has no kernel for it with --dtype f32 --dim 72 --dim-v 72 here; `tilescope run` counts it"),
    ("validate flash_v2 --dropout 0.1 --dropout-mask stored", 2, "--dropout-mask stored: kernels draw the mask again"),
    ("validate flash_v2 --seq-q 1 --heads 8 --kv-heads 2 --soft-cap 30", 2, "--soft-cap 30: kernels do not take it with packed heads; try --pack off"),
    ("run split_kv --splits 0", 2, "--splits 0: must be from 1 to 1024, or auto, fa2 or fa3; try --splits 8"),
    ("run split_kv --splits -2", 2, "--splits -2"),
    ("run split_kv --splits many", 2, "--splits many"),
    ("run split_kv --splits 1025", 2, "from 1 to 1024"),
    ("sweep split_kv --vary splits=1,x", 2, "--splits x"),
    ("run flash_v2 --splits 4", 2, "--splits 4: flash_v2 does not cut the keys into parts; split_kv does"),
    ("compare flash_v2 split_kv --splits fa3", 2, "--splits fa3: flash_v2"),
    ("run softmax_safe --splits 2", 2, "split_kv does"),
    ("run split_kv --seq-q 1099511627776 --seq-k 1 --heads 1 --dim 128 --splits 1024", 2, "below 2^56"),
    ("run flash_v2 --br 256 --bc 1024", 1, "this fits: --br"),
    ("run flash_v2 --gpu toy --dim 4096", 1, "no tiling fits"),
    ("run flash_v2 --gpu nope", 2, "presets are"),
    ("run flash_v2 --gpu missing.json", 2, "missing.json"),
    ("run flash_v2 --model lama-3-8b", 2, "did you mean llama-3-8b? There are deepseek-v3, gemma-2b, gpt-2,"),
    ("run flash_v2 --model llama-3", 2, "several models begin like that: write one of llama-3-70b, llama-3-8b"),
    ("run flash_v2 --phase decode", 2, "--phase decode: is a phase of a model; add --model"),
    ("compare flash_v2:phase=prefill", 2, "--phase prefill: is a phase of a model"),
    ("run flash_v2 --model gpt-2 --phase train", 2, "--phase train: must be prefill or decode"),
    ("run flash_v2 --model gpt-2 --q q.npy --k k.npy --v v.npy", 2, "--model gpt-2: the files have sizes"),
    ("run flash_v2 --model llama-3-8b --heads 4", 2, "--kv-heads 8: must divide the 4 heads"),
    ("run softmax_safe --model gpt-2", 2, "--model: means nothing to a softmax kernel"),
    ("run softmax_safe --phase decode", 2, "--phase: means nothing to a softmax kernel"),
    ("run flash_v2 --model deepseek-v3 --phase decode --gpu T4 --br 64 --bc 64 --seq-q 64", 1, "this fits: --br"),
    ("sweep flash_v2 --vary model=gpt-2,gpt-9", 2, "--model gpt-9: unknown model"),
    ("models show nope", 2, "model nope: unknown model"),
    ("validate --phase decode", 2, "--phase decode: is a phase of a model"),
    ("validate --survey quick --model gpt-2", 2, "--model: --survey"),
    ("run flash_v2 --sms 0", 2, "--sms 0"),
    ("run flash_v2 --sram 0", 2, "--sram 0"),
    ("run flash_v2 --sram 0.5", 2, "reserves"),
    ("run flash_v2 --hbm-bandwidth -1", 2, "--hbm-bandwidth -1"),
    ("timeline", 2, "ALGO"),
    ("timeline flash_v2 flash_v2:br=0", 2, "--br 0"),
    ("timeline flash_v2 standard:seq=1M", 1, "of HBM: it is counted, but cannot run"),
    ("run flash_v2 --l2-bytes -1", 2, "--l2-bytes -1: must be"),
    ("run flash_v2 --l2-bytes 2.5M", 2, "--l2-bytes 2.5M: must be a whole number; try --l2-bytes 2621440"),
    ("sweep flash_v2 --vary l2-bytes=1M,x", 2, "--l2-bytes x"),
    ("run flash_v2 --mode fast", 2, "--mode fast"),
    ("run standard --mode numeric --seq 262144", 1, "of HBM: it is counted, but cannot run; try a shorter --seq"),
    ("run flash_v2 --mode count --out o.npy", 2, "--mode count"),
    ("run flash_v2 --distribution odd", 2, "--distribution odd"),
    ("run softmax_safe --causal", 2, "--causal"),
    ("run softmax_safe --scale 2", 2, "--scale"),
    ("run softmax_safe --q q.npy", 2, "--x"),
    ("run flash_v2 --x x.npy", 2, "--q --k --v"),
    ("run flash_v2 --do x.npy", 2, "--do x.npy: is for backward passes"),
    ("run flash_v2_backward --do x.npy", 2, "add --q --k --v"),
    ("run flash_v2 --q q.npy", 2, "--k"),
    ("sweep", 2, "ALGO"),
    ("sweep flash_v2:br=64 --vary br=16,32", 2, "br: is set twice"),
    ("sweep flash_v2 --vary br=16 bc=32,64", 2, "--vary"),
    ("compare flash_v2 flash_v2", 2, "is there twice"),
    ("compare flash_v2:br=8 flash_v2:br=8", 2, "is there twice"),
    ("compare flash_v2:br", 2, "KEY=VALUE"),
    ("compare flash_v2:colour=1", 2, "colour"),
    ("compare flash_v2:seq=0", 2, "--seq 0"),
    ("advise flash_v2@A100", 2, "try flash_v2 --gpu=A100"),
    ("run flash_v2:br=64,causal=true@H200", 2, "try flash_v2 --br=64 --causal=true --gpu=H200"),
    ("compare flash_v2@nope", 2, "presets are"),
    ("compare flash_v9@H100", 2, "did you mean flash_v1"),
    ("compare --format pdf", 2, "--format"),
    ("compare --format csv --json", 2, "--json"),
    ("run flash_v2 --layout bshd", 2, "--layout bshd: says how files are read and written, and there is none; give --q"),
    ("compare --bits16 bf16", 2, "--bits16 bf16: says how a file is read, and there is none; give --q"),
    ("run softmax_safe --bits16 bf16", 2, "give --x FILE.npy"),
    ("run flash_v2 --layout nhd --q q.npy --k k.npy --v v.npy", 2, "bhsd or bshd"),
    ("sweep flash_v2 --vary seq", 2, "KEY=VALUES"),
    ("sweep flash_v2 --vary colour=1", 2, "colour"),
    ("sweep flash_v2 --vary seq=8:4:x2", 2, "ends before"),
    ("sweep flash_v2 --vary seq=4:8:x1", 2, "factor"),
    ("sweep flash_v2 --vary seq=4:8:2", 2, "FACTOR"),
    ("sweep flash_v2 --vary seq=4,,8", 2, "empty"),
    ("sweep flash_v2 --vary seq=1:90000:+1 --vary br=1:64:+1", 2, "1000000"),
    ("sweep flash_v2 --vary seq=64,0", 2, "--seq 0"),
    ("sweep flash_v2 --vary seq=64 -o /nowhere/x.csv", 1, "/nowhere/x.csv"),
    ("step flash_v2 --at 97", 2, "--at 97: the operations of flash_v2 are numbered here from 0 to 96; try --at 96"),
    ("step flash_v2 --at -1", 2, "try --at 0"),
    ("step flash_v2 --at one", 2, "--at one: must be a whole number"),
    ("step flash_v2 --at 3 --from 1", 2, "leave them out"),
    ("step flash_v2 --at 3 --table", 2, "--table"),
    ("step flash_v2 --from 200", 2, "--from 200: the operations of flash_v2 are numbered here from 0 to 96; try --from 96"),
    ("step flash_v2 --from 9 --to 3", 2, "--to 3: the operations of flash_v2 are numbered here from 9 to 96; try --to 9"),
    ("step flash_v2 --sm 108", 2, "--sm 108"),
    ("step flash_v2 --line 99", 2, "--line 99: the pseudo-code of flash_v2 has lines from 1 to 17; try --line 17"),
    ("step flash_v2 --line 6", 2, "--line 6: SM 0 does nothing on that line here; `tilescope explain flash_v2`"),
    ("step flash_v2 --launch 2", 2, "--launch 2: launches are numbered here from 1 to 1; try --launch 1"),
    ("step flash_v2 --launch 0", 2, "--launch 0: launches are numbered here from 1 to 1; try --launch 1"),
    ("step flash_v2 --launch 1 --at 9", 2, "--launch 1: --at 9 is one operation, whatever its launch; leave one of the two out"),
    ("step flash_v2 --block 1 --at 9", 2, "--block 1: --at 9 is one operation, whatever its thread block; leave one of the two"),
    ("step flash_v2 --block 500", 2, "--block 500: thread blocks of launch 1 that are shown are numbered from 0 to"),
    ("step flash_v2 --block 1 --sm 0", 2, "--sm 0: thread block 1 runs on SM 1; leave --sm out"),
    ("step flash_v2 --seq 0", 2, "--seq 0"),
    ("step flash_v9", 2, "did you mean flash_v1"),
    ("sweep flash_v2 --vary seq=64 -o x.json", 2, "--output x.json: must end in .csv; try --output x.csv"),
    ("sweep flash_v2 --vary seq=64 --json -o x.csv", 2, "try --output x.json"),
    ("run flash_v2 --out o.csv", 2, "--out o.csv: must end in .npy; try --out o.npy"),
    ("trace flash_v2 -o x.csv", 2, "try --output x.json"),
    ("validate --csv x.json", 2, "--csv x.json: must end in .csv"),
    ("trace flash_v2", 2, "--output"),
    ("trace flash_v2 -o /nowhere/x.json", 1, "/nowhere/x.json"),
    ("trace flash_v2 --blocks -1 -o x.json", 2, "--blocks -1"),
    ("trace flash_v2 --blocks 128 -o x.json", 2, "0 to 63"),
    ("trace flash_v2 --seq 4096 --br 16 --bc 16 --max-events 10 -o x.json", 1, "10"),
    ("trace flash_v2 --br 1024 --bc 1024 -o x.json", 1, "does not fit"),
    ("replay", 2, "FILE"),
    ("replay /nowhere.json", 2, "/nowhere.json: cannot be read"),
    ("replay /dev/null", 2, "/dev/null: is not a recording; `tilescope trace` writes one"),
    ("gpus show nope", 2, "nope"),
    ("explain nothing", 2, "algorithm nothing: unknown; `tilescope list` shows all"),
    ("explain flash_v2 --warps 3", 2, "--warps 3: must be a power of two from 1 to 32; try --warps 4"),
    ("explain flash_v2 --warps 64", 2, "--warps 64: must be from 1 to 32; try --warps 4"),
    ("explain flash_v2 --warps four", 2, "--warps four: must be a whole number; try --warps 4"),
    ("explain standard --warps 4", 2, "--warps 4: nothing is known of the warps of standard; leave it out"),
    ("validate flash_v9", 2, "did you mean flash_v1"),
    ("validate flash_v2 --dim 48", 2, "f32 d=64:"),
    ("validate flash_v2 --br 16", 2, "--br 16"),
    ("validate flash_v1 --dtype f16", 2, "flash_v1 has no such kernel"),
    ("validate --dtype f8", 2, "--dtype f8"),
    ("validate --seq 0", 2, "--seq 0"),
    ("validate softmax_safe --causal", 2, "--causal"),
    ("validate --survey huge", 2, "quick or full"),
    ("validate --survey quick --seq 64", 2, "--seq: --survey"),
    ("validate --survey quick --all-tiles", 2, "--all-tiles: --survey"),
    ("validate --survey quick --pack on", 2, "--pack: --survey"),
    ("validate split_kv --pack on", 2, "nothing to pack"),
    ("validate flash_v1 --kv-heads 2 --pack on", 2, "flash_v1 does not pack heads"),
    ("validate split_kv --kv-heads 2 --seq-q 2 --causal --pack on", 2, "do not mask packed rows of several queries"),
    ("validate --part 3", 2, "K/N"),
    ("validate --part 3/2", 2, "--part 3/2"),
    ("validate --repeat 0", 2, "--repeat 0"),
    ("validate --distribution odd", 2, "--distribution odd"),
    ("validate --mode count", 2, "--mode"),
    ("validate --out o.npy", 2, "exactly one ALGO"),
    ("validate flash_v2 --all-tiles --out o.npy", 2, "--br and --bc"),
    ("validate flash_v2 --q q.npy", 2, "--k"),
    ("validate --gpu nope", 2, "presets are"),
    ("measured flash_v9", 2, "did you mean flash_v1"),
    ("measured --dim 0", 2, "--dim 0"),
    ("measured --dtype f8", 2, "--dtype f8: must be f32, f16, bf16, e4m3 or e5m2"),
    ("measured --gpu nope", 2, "presets are"),
    ("measured --kernel mine", 2, "--kernel mine: must be tilescope or pytorch"),
    ("measured --causal --no-causal", 2, "--no-causal"),
    ("measured --format pdf", 2, "--format pdf"),
    ("measured --scale 2", 2, "--scale"),
    ("measured flash_v2 --dim 48", 1, "nothing was measured of flash_v2 --dim 48; beside the others there are --dim 32, 64, 96, 128"),
    ("measured flash_v1 --gpu A100", 1, "--gpu H100-SXM, H200"),
    ("reconcile", 2, "ALGO"),
    ("reconcile flash_v9", 2, "did you mean flash_v1"),
    ("reconcile flash_v2 /nowhere.csv", 2, "/nowhere.csv: cannot be opened"),
    ("reconcile flash_v2 .", 2, ".: is a folder"),
    (f"reconcile flash_v2 {SOURCE}/README.md", 2, "README.md: has no launches as `ncu --csv` writes them"),
    (f"reconcile flash_v2 {SOURCE}/docs/measured/h200/survey-1.csv", 2, "has no launches"),
    (f"reconcile flash_v2 {NCU}/not_raw.csv --only nope", 2, "--only nope: no kernel has that in its name"),
    (f"reconcile flash_v2 {NCU}/pytorch_f16.csv --only nope", 2, "--only nope: no kernel has that in its name"),
    (f"reconcile flash_v2 {NCU}/pytorch_f16.csv --runs 0", 2, "--runs 0"),
    ("reconcile flash_v2 --only flash", 2, "--only flash: chooses launches of a file"),
    ("reconcile flash_v2 --seq 0", 2, "--seq 0"),
    ("reconcile softmax_safe --causal", 2, "--causal"),
    ("reconcile flash_v2 --br 256 --bc 1024", 1, "this fits: --br"),
    ("calibrate -o x.csv", 2, "--output x.csv: must end in .json; try --output x.json"),
    ("calibrate flash_v2", 2, "flash_v2"),
]

GPU_FILES = {
    "empty": "",
    "truncated": '{"name": "x", "sms": 1',
    "not an object": "[1, 2]",
    "unknown key": '{"base": "A100-40GB", "smss": 4}',
    "wrong type": '{"base": "A100-40GB", "sms": "many"}',
    "negative": '{"base": "A100-40GB", "sms": -4}',
    "huge": '{"base": "A100-40GB", "sms": 1e300}',
    "deep": "[" * 200000,
    "incomplete": '{"name": "x", "sms": 4}',
    "binary": "\x00\x01\x02",
}


def one_line(text):
    return text.count("\n") == 1


def check_requests(binary, tally, folder, requests):
    for args, code, part in requests:
        r = run(binary, args, cwd=folder)
        tally.check(r.returncode == code and part in r.stderr and r.stdout == "",
                    f"`{args}`: exit {r.returncode} (want {code}), stdout {r.stdout[:60]!r}, stderr {r.stderr!r}")
        # A tiling that does not fit is explained at length; all other errors are one line.
        tally.check(one_line(r.stderr) or "fit" in r.stderr, f"`{args}`: not one line: {r.stderr!r}")
        tally.check(os.listdir(folder) == [], f"`{args}`: left {os.listdir(folder)}")


# Tiles that do not fit: in the first operation of a line, in a later one, in a later launch, in a graded grid.
NO_FIT = ["flash_v2 --br 2048 --bc 16 --seq 4096", "flash_v2 --br 256 --bc 1024", "standard --br 16 --bc 16 --sram 3",
          "flash_v1 --br 64 --bc 1024 --causal", "flash_v2 --br 256 --bc 1024 --causal --heads 2 --seq-q 4096"]


def check_ways_back(binary, tally):
    """The command at the end of a message leads to the step that the message is about."""
    for args in NO_FIT:
        r = run(binary, f"run {args} --mode count")
        back = re.search(r"see it: tilescope (step .* --launch (\d+) --block (\d+) --line (\d+))\n", r.stderr)
        tally.check(back is not None, f"`run {args}` names no way back: {r.stderr!r}")
        if not back:
            continue
        command, launch, block, line = back.groups()
        tally.check(f" at line {line}, a thread block on" in r.stderr, f"`run {args}`: another line than {line}: {r.stderr}")
        again = run(binary, command)
        steps = re.findall(r"^operation \d+ · block (\d+) · line (\d+) ", again.stdout, re.M)
        tally.check(again.returncode == 1 and f"at line {line}, a thread block on" in again.stderr and
                    all(found == (block, line) for found in steps),
                    f"`{command}`: exit {again.returncode}, {steps}, {again.stderr!r}")


def check_gpu_files(binary, tally, folder):
    path = folder / "gpu.json"
    for name, text in GPU_FILES.items():
        path.write_text(text)
        r = run(binary, ["run", "flash_v2", "--mode", "count", "--gpu", str(path)])
        tally.check(r.returncode == 2 and one_line(r.stderr) and "gpu.json" in r.stderr,
                    f"GPU file {name}: exit {r.returncode}, {r.stderr[:200]!r}")
    path.write_text('{"base": "A100-40GB", "name": "mine", "sms": 7}')
    r = run(binary, ["run", "flash_v2", "--mode", "count", "--gpu", str(path)])
    tally.check(r.returncode == 0 and " 7 SMs" in r.stdout, f"a good GPU file: {r.stderr}")
    for gpu in ("H100", "toy", str(path)):
        shown = run(binary, ["gpus", "show", gpu, "--json"]).stdout
        (folder / "shown.json").write_text(shown)
        again = run(binary, ["gpus", "show", str(folder / "shown.json"), "--json"])
        tally.check(again.stdout == shown, f"`gpus show {gpu} --json` is no file for --gpu: {again.stderr}")


def check_full_disk(binary, tally):
    """/dev/full accepts no byte: the error must be reported."""
    for args in ["trace flash_v2 --seq 64 -o /dev/full", "sweep flash_v2 --vary seq=64:128:x2 -o /dev/full"]:
        r = run(binary, args)
        tally.check(r.returncode == 1 and one_line(r.stderr), f"`{args}`: exit {r.returncode}, {r.stderr!r}")
    with open("/dev/full", "w") as full:
        import subprocess

        r = subprocess.run([binary, "compare", "--mode", "count"], stdout=full, stderr=subprocess.PIPE, text=True)
        tally.check(r.returncode == 1 and one_line(r.stderr), f"compare > /dev/full: {r.returncode}, {r.stderr!r}")


def main():
    binary, tally = os.path.abspath(sys.argv[1]), Tally()
    # Under sanitizers the program starts slowly, so only every third request is tested.
    step = 3 if "--sanitized" in sys.argv[2:] else 1
    with tempfile.TemporaryDirectory() as folder:
        check_requests(binary, tally, folder, REQUESTS[::step])
    check_ways_back(binary, tally)
    with tempfile.TemporaryDirectory() as folder:
        check_gpu_files(binary, tally, pathlib.Path(folder))
    check_full_disk(binary, tally)
    tally.close()


main()
