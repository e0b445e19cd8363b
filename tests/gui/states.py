"""The main states of the window, as command lines. All have approved texts, some also approved pictures."""

import pathlib

TOY = ["--gpu", "toy", "--seq", "16", "--dim", "4", "--heads", "1", "--dtype", "f32", "--br", "4", "--bc", "4"]
TOY_MATRIX = ["--gpu", "toy", "--seq", "16", "--heads", "1", "--dtype", "f32", "--br", "4", "--bc", "4"]
TILES = ["--br", "64", "--bc", "64"]
HALF = ["--seq", "512", *TILES]
ONE_HEAD = ["--seq", "256", "--heads", "1", *TILES]
END = ["--step", "1000000"]
CAUSAL = [*HALF, "--heads", "1", "--causal"]
LANES = ["--heads", "1", "--seq", "1024", "--dim", "128", "--br", "128", "--bc", "128", "--view", "time"]
DECODE = ["--heads", "2", "--seq-q", "1", "--seq-k", "1024", "--dim", "64", "--bc", "64"]
FOUR_PARTS = [*DECODE, "--splits", "4"]


def in_machine(flags):
    """The same flags with the machine view, where they name no view."""
    return flags if "--view" in flags else [*flags, "--view", "machine"]


WALLS = {
    "wall_flash_v2": ["flash_v2", *CAUSAL, "--step", "45", "--sm", "5"],
    "wall_flash_v1": ["flash_v1", *CAUSAL, "--step", "540"],
    "wall_standard": ["standard", *CAUSAL, "--step", "12"],
    "wall_heads": ["flash_v2", "--seq", "500", "--br", "64", "--bc", "64", "--heads", "8", "--kv-heads", "2", "--step",
                   "50", "--light"],
    "wall_softmax": ["softmax_safe", "--seq-q", "256", "--seq-k", "512", "--heads", "1", "--br", "32", "--bc", "64",
                     "--step", "40"],
    "wall_large": ["flash_v2", "--seq", "16384", "--heads", "4", "--causal", "--br", "128", "--bc", "128", "--step",
                   "200"],
    "wall_race": ["flash_v1", *CAUSAL, "--race", "flash_v2", "--pace", "time", "--step", "120"],
    "wall_small": ["flash_v2", *CAUSAL, "--step", "45", "--size", "800x600"],
    "wall_first": ["--light"],
    "wall_parts": ["split_kv", *FOUR_PARTS, "--step", "20"],
    "wall_parts_added": ["split_kv", *FOUR_PARTS, "--kv-heads", "1", "--step", "66", "--light"],
    "wall_parts_causal": ["split_kv", "--seq", "256", *TILES, "--heads", "1", "--splits", "2", "--causal", "--step", "12"],
    "wall_parts_small": ["split_kv", "--seq", "256", *TILES, "--heads", "1", "--splits", "2", "--causal", "--step", "44",
                         "--size", "800x600"],
    "wall_parts_projector": ["split_kv", *FOUR_PARTS, "--step", "21", "--projector", "--size", "1920x1080"],
    "wall_parts_zoom": ["split_kv", "--seq", "500", *TILES, "--heads", "1", "--splits", "3", "--step", "14", "--zoom",
                        "0.4,0.9"],
    "wall_zoom": ["flash_v2", *CAUSAL, "--step", "45", "--sm", "5", "--zoom", "0.4,0.6"],
    "wall_backward": ["flash_v2_backward", *CAUSAL, "--step", "72"],
    "wall_backward_projector": ["flash_v2_backward", *CAUSAL, "--step", "78", "--projector", "--size", "1920x1080"],
    "wall_backward_small": ["flash_v2_backward", *CAUSAL, "--step", "72", "--size", "800x600"],
    "wall_backward_standard": ["standard_backward", *HALF, "--heads", "1", "--step", "41", "--light"],
    "toy_projector": ["flash_v2", *TOY, "--step", "24", "--projector", "--size", "1920x1080"],
    "controls_projector": ["standard", *CAUSAL, "--step", "12", "--projector", "--drawer", "controls", "--light", "--size",
                           "1920x1080"],
    "wall_projector": ["flash_v2", *CAUSAL, "--step", "45", "--projector", "--size", "1920x1080"],
}

TIMES = {
    "time": ["flash_v2", "--seq", "8192", "--heads", "32", "--dim", "64", "--causal", "--view", "time", "--step", "300"],
    "time_race": ["standard", "--seq", "1024", "--heads", "4", "--dim", "64", "--race", "flash_v2", "--pace", "time",
                  "--view", "time", "--step", "100", "--light"],
    "time_race_end": ["standard", "--seq", "1024", "--heads", "4", "--dim", "64", "--race", "flash_v2", "--view",
                      "time", *END, "--projector", "--size", "1920x1080"],
    "time_small": ["flash_v2", *CAUSAL, "--view", "time", "--step", "45", "--size", "800x600"],
    "time_lanes": ["flash_v3", *LANES, "--lanes", "alone", "--cycle", "1300"],
    "time_lanes_four": ["flash_v3", *LANES, "--lanes", "four", "--cycle", "800", "--light"],
    "time_lanes_projector": ["flash_v3", *LANES, "--lanes", "four", "--projector", "--size", "1920x1080"],
}

ROWS = {
    "row": ["flash_v2", *TOY, "--view", "row", "--step", "24", "--forget-rescale"],
    "row_projector": ["flash_v2", *TOY, "--view", "row", "--step", "35", "--row", "2", "--projector", "--no-controls"],
    "row_overflow": ["standard", "--softmax", "naive", "--scale", "100", "--seq", "256", "--heads", "1", "--view", "row",
                     "--step", "12", "--light"],
    "row_softmaxes": ["flash_v2", *TOY, "--view", "row", "--step", "35", "--softmaxes"],
    "row_softmaxes_overflow": ["standard", "--softmax", "naive", "--scale", "100", "--seq", "256", "--heads", "1",
                               "--br", "64", "--bc", "64", "--view", "row", "--step", "26", "--softmaxes", "--light"],
    "row_race": ["flash_v1", *CAUSAL, "--race", "flash_v2", "--view", "row", "--step", "150"],
}

MACHINE_PICTURES = {
    "flash_v2": ["flash_v2", *HALF, "--step", "60"],
    "flash_v2_start": ["flash_v2", *HALF],
    "flash_v2_light": ["flash_v2", *HALF, "--causal", "--step", "60", "--light"],
    "default_counters": ["flash_v2", "--dim", "128", "--step", "20", "--detail", "counters"],
    "flash_v1_counters": ["flash_v1", *HALF, "--step", "300", "--detail", "counters"],
    "standard_end": ["standard", *HALF, *END, "--detail", "counters"],
    "toy": ["flash_v2", *TOY, "--step", "40", "--break", "10"],
    "softmax": ["softmax_online", "--gpu", "toy", "--seq", "16", "--heads", "1", "--br", "4", "--bc", "4", "--step",
                "20"],
    "program": ["flash_v2", *TOY, "--step", "12", "--tab", "program"],
    "race": ["flash_v1", *HALF, "--race", "flash_v2", "--pace", "bytes", "--step", "900", "--detail", "counters"],
    "overflow": ["flash_v2", "--br", "1024", "--bc", "1024", "--dim", "128"],
    "spill": ["standard", "--seq", "65536", "--heads", "16", "--gpu", "A100-40GB"],
    "large": ["flash_v2", "--seq", "16384", "--heads", "64", "--step", "300"],
    "projector": ["flash_v2", *HALF, "--step", "60", "--projector"],
    "tiles": ["flash_v2", "--dim", "128", "--view", "tiles"],
    "roofline": ["--view", "roofline", "--race", "standard"],
    "small_window": ["flash_v2", *HALF, "--step", "60", "--size", "800x600"],
}

PICTURES = {name: in_machine(flags) for name, flags in MACHINE_PICTURES.items()} | WALLS | TIMES | ROWS

# States with approved texts only. Steps of `toy` with one operation each: what a card writes, and what is said of it.
MACHINE_TEXTS = {
    **{f"toy_{step}": ["flash_v2", *TOY, "--step", str(step)]
       for step in (1, 3, 6, 8, 9, 10, 11, 12, 13, 14, 48, 49, 50)},
    "toy_end": ["flash_v2", *TOY, *END],
    "flash_v2_end": ["flash_v2", *HALF, *END],
    "default": ["flash_v2", "--dim", "128", "--step", "20"],
    "without_l2": ["flash_v2", "--dim", "128", "--l2", "off", "--order", "snake", "--tiles", "paper", "--detail",
                   "counters"],
    "bf16": ["flash_v2", *HALF, "--dtype", "bf16", "--step", "30", "--detail", "counters"],
    "causal": ["flash_v1", *ONE_HEAD, "--causal", "--step", "77"],
    "causal_masked": ["flash_v2", *TOY, "--causal", "--step", "7"],
    "grouped_heads": ["flash_v2", *HALF, "--heads", "8", "--kv-heads", "2", "--step", "61", "--sm", "9"],
    "cross_attention": ["chunked", "--seq-q", "64", "--seq-k", "256", "--heads", "2", "--br", "32", "--bc", "64",
                        "--step", "40"],
    "memory_efficient": ["memory_efficient", *ONE_HEAD, "--step", "30"],
    "three_pass": ["three_pass", *ONE_HEAD, "--step", "25"],
    "two_pass": ["two_pass", *ONE_HEAD, "--step", "28"],
    "flash_v1_scores": ["flash_v1", *TOY, "--step", "12"],
    "standard_scores": ["standard", *ONE_HEAD, "--step", "4"],
    "standard_softmax": ["standard", *ONE_HEAD, "--step", "10"],
    "standard_output": ["standard", *ONE_HEAD, "--step", "16", "--detail", "counters", "--compare", "flash_v2"],
    "standard_naive": ["standard", "--softmax", "naive", "--scale", "100", "--seq", "256", "--heads", "1", "--step",
                       "11"],
    "standard_streams": ["standard", "--seq", "65536", "--heads", "1", "--step", "2000", "--tab", "program"],
    "softmax_naive": ["softmax_naive", *TOY_MATRIX, "--step", "9", "--detail", "counters"],
    "softmax_safe": ["softmax_safe", *TOY_MATRIX, "--step", "14"],
    "race_time": ["standard", *HALF, "--race", "flash_v2", "--pace", "time", "--step", "60"],
    "race_end": ["flash_v1", *ONE_HEAD, "--race", "flash_v2", *END, "--detail", "counters"],
    "overflow_registers": ["three_pass", "--br", "1024", "--bc", "64", "--gpu", "H100"],
    "tiles_bytes": ["flash_v1", "--view", "tiles", "--metric", "hbm_bytes", "--causal", "--br", "32", "--bc", "200"],
    "tiles_no_fit": ["standard", "--seq", "64", "--sram", "2", "--view", "tiles"],
    "roofline_matrix": ["softmax_online", "--seq", "256", "--heads", "1", "--view", "roofline", "--light"],
    "io": ["--view", "io", "--heads", "1", "--dim", "64"],
    "chosen_sms": ["flash_v2", *HALF, "--sms", "7", "--sram", "64", "--hbm-bandwidth", "900", "--sm", "3",
                   "--step", "700"],
}

TEXTS = PICTURES | {name: in_machine(flags) for name, flags in MACHINE_TEXTS.items()} | {
    "time_toy": ["flash_v2", *TOY, "--view", "time", "--step", "20"],
    "time_too_many": ["flash_v2", "--seq", "65536", "--heads", "64", "--view", "time"],
    "row_start": ["flash_v2", *TOY, "--view", "row"],
    "row_end": ["flash_v2", *TOY, "--view", "row", *END],
    "row_masked": ["flash_v2", *TOY, "--causal", "--view", "row", "--step", "14", "--sm", "2", "--row", "1"],
    "row_passes": ["three_pass", *ONE_HEAD, "--view", "row", "--step", "28"],
    "row_matrix": ["softmax_online", *TOY_MATRIX, "--view", "row", "--step", "20"],
    "row_without_values": ["flash_v2", "--seq", "65536", "--heads", "64", "--view", "row", "--step", "30"],
    "wall_launch": ["standard", *CAUSAL, "--step", "1"],
    "wall_scores": ["standard", *CAUSAL, "--step", "4"],
    "wall_output": ["standard", *CAUSAL, "--step", "30"],
    "wall_end": ["flash_v2", *CAUSAL, *END],
    "wall_stored": ["standard", *CAUSAL, *END],
    "wall_parts_start": ["split_kv", *FOUR_PARTS],
    "wall_parts_written": ["split_kv", *FOUR_PARTS, "--step", "52"],
    "wall_parts_end": ["split_kv", *FOUR_PARTS, *END],
    "wall_parts_many": ["split_kv", *DECODE, "--splits", "10", "--step", "40"],
    "wall_decode": ["flash_v2", "--seq-q", "1", "--seq-k", "4096", "--heads", "4", "--step", "40"],
    "wall_passes": ["three_pass", *CAUSAL, "--step", "20"],
    **{f"wall_backward_{name}": [f"{name}_backward", *CAUSAL, "--step", "150"]
       for name in ("flash_v1", "two_pass", "flash_v2_deterministic", "flash_v2_literal")},
    "wall_backward_end": ["flash_v2_backward", *CAUSAL, *END],
    "wall_backward_bias": ["memory_efficient_backward", *ONE_HEAD, "--bias", "hqk", "--step", "40"],
    "wall_too_many": ["flash_v2", "--seq", "4194304", "--heads", "1", "--dim", "1", "--br", "1", "--causal"],
    "wall_matrix": ["softmax_online", "--seq", "256", "--heads", "1", "--step", "30"],
}

# The scene of "05-columns-and-rows.json" is columns-and-rows.
SCENES = [path.stem[3:] for path in sorted((pathlib.Path(__file__).resolve().parents[2] / "scenes").glob("*.json"))]
# At a desk, on a projector, and in a small window.
SCENE_SIZES = {"": [], "_hall": ["--projector", "--size", "1920x1080"], "_small": ["--size", "800x600"]}
SCENE_STATES = {"scene_" + name.replace("-", "_") + size: ["--scene", name, *flags]
                for name in SCENES for size, flags in SCENE_SIZES.items()}
TEXTS |= SCENE_STATES | {"scene_changed": ["--scene", "grouped-heads", "--kv-heads", "8", "--answer"]}
PICTURES |= SCENE_STATES

# A slider set to a number that is refused: flags, slider, where it is clicked.
PROBLEM = {
    "problem": (in_machine(["flash_v2", *HALF, "--step", "60"]), "kv-heads", 0.98),
    "beyond_hbm": (in_machine(["standard", "--seq", "512", "--dim", "128", "--detail", "counters"]), "seq", 0.98),
}

# Tooltips: flags, and where the mouse rests, from 0 to 1 from the upper left corner of a panel or control.
TIPS = {
    "tips": (in_machine(["flash_v2", *TOY, "--step", "26"]),
             [("sm-2", 0.5, 0.5), ("scrub", 0.5, 0.5), ("line-7", 0.5, 0.5), ("break-8", 0.5, 0.5), ("seq", 0.5, 0.5),
              ("tiles", 0.5, 0.5), ("order", 0.5, 0.5), ("l2", 0.5, 0.5), ("pace-bytes", 0.5, 0.5), ("time", 0.5, 0.5)]),
    "wall_tips": (["flash_v2", *CAUSAL, "--step", "45", "--sm", "5"],
                  [("wall", 0.06, 0.06), ("wall", 0.45, 0.7), ("wall", 0.9, 0.1), ("wall", 0.95, 0.95), ("wall", 0.55, 0.55),
                   ("edge-K", 0.3, 0.5), ("edge-Q", 0.5, 0.9), ("edge-O", 0.5, 0.1), ("edge-LSE", 0.5, 0.1)]),
    "parts_tips": (["split_kv", "--heads", "4", "--kv-heads", "2", *FOUR_PARTS[2:], "--step", "66"],
                   [("wall", 0.1, 0.9), ("wall", 0.9, 0.9), ("wall", 0.1, 0.2), ("head-1", 0.5, 0.5), ("splits", 0.5, 0.5),
                    ("splits-rule", 0.5, 0.5), ("pack", 0.5, 0.5)]),
    "counter_tips": (["flash_v2", *TOY, "--step", "26", "--detail", "counters"],
                     [("counter-SM read", 0.5, 0.5), ("counter-DRAM read", 0.5, 0.5), ("counter-compulsory", 0.5, 0.5),
                      ("counter-time", 0.5, 0.5), ("counter-time", 1.6, 0.5), ("counter-time", 2.6, 0.5),
                      ("counter-bound", 2.6, 0.5), ("counter-limited by", 2.6, 0.5), ("strip", 0.5, 0.5)]),
}
