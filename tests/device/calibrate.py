#!/usr/bin/env python3
"""`tilescope calibrate` on the GPU: its file can be read, and agrees with the preset of the same device, if there is
one. Without a GPU: says why, and exits with 77, which CTest shows as skipped."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
# How far a rate may be from the preset's; None: any distance.
TOLERANCE = {
    "l2_read_bytes_per_clk": 0.25,  # for the presets, SMs read shared data
    "sm_bytes_per_clk": 0.20,       # depends on how many bytes are on their way, docs/calibrate.md
    "launch_us": None,              # a property of the host
    "beside_wgmma": 0.15,           # docs/calibrate.md has the reasons
    "full_rate_beside_wgmma": 0.60,
    "bulk_latency_clk": 0.35,
    "bulk_bytes_per_clk": 0.30,     # both presets have the H100's
    "bulk_by_4_bytes_per_clk": 0.35,
}
USUAL = 0.10
MEASURED = ["mma_flops_per_clk", "fma_per_clk", "half_rate_per_clk", "exp_per_clk", "sm_bytes_per_clk", "copy_gbs",
            "l2_read_bytes_per_clk", "l2_latency_clk", "dram_latency_clk", "launch_us", "cuda_clock_mhz",
            "mma_light_clock_mhz", "mma_clock_mhz"]
OF_LANES = ["wgmma_flops_per_clk", "wgmma_notice_clk", "beside_wgmma", "full_rate_beside_wgmma", "full_rate_steals",
            "barrier_clk", "mbarrier_clk", "row_shuffles_clk", "bulk_latency_clk", "bulk_port_bytes_per_clk",
            "bulk_bytes_per_clk", "bulk_by_4_bytes_per_clk", "bulk_by_8_bytes_per_clk"]


def measured_of(sheet):
    return MEASURED + (OF_LANES if sheet["compute_capability"] == "9.0" else [])


def output(binary, command, **more):
    r = subprocess.run([binary, *command.split()], capture_output=True, text=True, **more)
    if r.returncode:
        sys.exit(f"`{command}`: exit {r.returncode}: {r.stderr}")
    return r.stdout


def faults_of(sheet):
    for key in measured_of(sheet):
        if "measured by tilescope calibrate" not in sheet[key]["source"]:
            yield f"{key} does not say that it was measured: {sheet[key]}"
    for key in ("cuda_clock_mhz", "mma_light_clock_mhz", "mma_clock_mhz"):
        if sheet[key]["value"] > sheet["clock_mhz"]["value"]:
            yield f"{key} is above the driver's maximum"


def differences(sheet, preset):
    for key in measured_of(sheet):
        measured, shipped, most = sheet[key]["value"], preset[key]["value"], TOLERANCE.get(key, USUAL)
        difference = measured / shipped - 1
        print(f"{key}: {measured}, shipped {shipped}, {difference:+.1%}")
        if most is not None and abs(difference) > most:
            yield f"{key} is {difference:+.1%} from the preset's, more than {most:.0%}"


def main():
    binary = os.path.abspath(sys.argv[1])
    search = json.loads(output(binary, "validate --json --survey quick --part 1/100"))
    if search["device"] is None:
        print("SKIPPED:", search["missing"], search["fix"])
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        said = output(binary, "calibrate -o mine.json", cwd=folder)
        print(said)
        sheet = json.loads((pathlib.Path(folder) / "mine.json").read_text())
        shown = json.loads(output(binary, "gpus show mine.json --json", cwd=folder))
        timeline = output(binary, "timeline flash_v2 --gpu mine.json", cwd=folder)
    faults = [*faults_of(sheet)]
    if sheet != shown:
        faults.append("gpus show reads another file than was written")
    if "was not calibrated" in timeline:
        faults.append("timeline takes the GPU for one that was not calibrated")
    base = sheet["name"].removesuffix(" (calibrated)")
    presets = {gpu["name"]: gpu for gpu in json.loads(output(binary, "gpus --json"))["gpus"]}
    if "mma_flops_per_clk" in presets.get(base, {}):
        faults += differences(sheet, presets[base])
    print(*faults, sep="\n")
    sys.exit(bool(faults))


main()
