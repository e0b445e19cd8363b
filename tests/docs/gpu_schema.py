#!/usr/bin/env python3
"""docs/gpu.schema.json allows what the reader of GPU files accepts, and nothing else; and what `gpus show` writes of a
preset reads back as the same preset, to the digit.

    gpu_schema.py TILESCOPE SOURCE_DIR
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

BINARY, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
FACTORS = {"sms": "tensor_tflops", "clock_mhz": "fp32_tflops", "fp32_lanes": "fp32_tflops",
           "tensor_clock_mhz": "tensor_tflops", "tensor_flops_per_clk": "tensor_tflops"}
SHEET = {"copy_gbs": "hbm_gbs", "mma_flops_per_clk": "tensor_flops_per_clk", "fma_per_clk": "fp32_lanes",
         "wgmma_flops_per_clk": "tensor_flops_per_clk", "half_rate_per_clk": "fp32_lanes"}
TYPES = {"integer": int, "number": (int, float), "string": str, "boolean": bool, "object": dict, "null": type(None)}


def is_a(value, name):
    if name == "integer":
        return not isinstance(value, bool) and isinstance(value, (int, float)) and value == int(value)
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def allows(schema, value, root):
    """Whether a JSON schema allows a value; has only the keywords that this schema uses."""
    types = schema.get("type", [])
    if types and not any(is_a(value, t) for t in ([types] if isinstance(types, str) else types)):
        return False
    if "$ref" in schema and not allows(root["$defs"][schema["$ref"].split("/")[-1]], value, root):
        return False
    if "const" in schema and value != schema["const"]:
        return False
    if "anyOf" in schema and not any(allows(s, value, root) for s in schema["anyOf"]):
        return False
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return (all(key in value for key in schema.get("required", []))
                and (schema.get("additionalProperties", True) or all(key in known for key in value))
                and all(allows(known[key], v, root) for key, v in value.items() if key in known))
    if isinstance(value, str):
        return schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 1e9)
    if is_a(value, "number"):
        return schema.get("minimum", value) <= value <= schema.get("maximum", value)
    return True


def variants(gpu, schema):
    """The file itself, the file without each key, and with each key at and beyond every limit."""
    yield gpu
    for key in [*gpu, "schema", "base", "unknown"]:
        less = copy.deepcopy(gpu)
        less.pop(key, None)
        yield less
        for value in ("", "x" * 100, "x" * 101, None, True, [], {}, "H100", "tilescope.gpu/2"):
            if key != "base" or value in ("H100", "") or not isinstance(value, str):  # presets are not in the schema
                yield {**gpu, key: value}
    for key, field in schema["properties"].items():
        if "anyOf" not in field:
            continue
        plain, details = field["anyOf"]
        low, high = plain["minimum"], plain["maximum"]
        if key == "sram_per_sm":
            low = gpu["sram_per_block"]["value"]  # no schema can say that one number may not exceed another
        if key == "sram_per_block":
            high = gpu["sram_per_sm"]["value"]
        if key in FACTORS or key in FACTORS.values():  # nor that a peak is a product of others
            low = high = gpu[key]["value"]
        if key in SHEET:  # nor that a measured number does not exceed the data sheet's
            high = gpu[SHEET[key]]["value"]
        unit = details["properties"]["unit"]["const"]
        values = {low, low * 0.9 if key != "sram_per_sm" else low + 0.5, -1, high, high + 0.5, plain["maximum"] * 1.1, low + 0.5}
        if key in SHEET:
            values = {low, low * 0.9, -1, high, plain["maximum"] * 1.1}
        if low == high:
            values = {low, plain["minimum"] * 0.9, -1, plain["maximum"] * 1.1}
        for value in sorted(values):
            yield {**gpu, key: value}
            yield {**gpu, key: {"value": value, "unit": unit, "source": "s", "confirmed": False}}
        for more in ({"unit": "furlongs"}, {"source": ""}, {"source": "s" * 301}, {"confirmed": 1}, {"colour": "red"}):
            yield {**gpu, key: {"value": low, **more}}
        yield {**gpu, key: {"unit": unit}}


def run(*words):
    done = subprocess.run([BINARY, *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def disagreements(folder, schema):
    toy = json.loads((SOURCE / "gpus" / "toy.json").read_text())
    asked = refused = 0
    for gpu in [*variants(toy, schema), {"base": "H100"}, {"base": "H100", "sms": 7}, {}]:
        path = folder / "gpu.json"
        path.write_text(json.dumps(gpu))
        code, _, said = run("gpus", "show", str(path))
        asked, refused = asked + 1, refused + (code != 0)
        if (code == 0) != allows(schema, gpu, schema):
            changed = {k: v for k, v in gpu.items() if toy.get(k) != v}
            yield f"the schema {'refuses' if code == 0 else 'allows'} {changed}, the reader does not: {said}"
    if refused < 300 or asked - refused < 100:
        yield f"only {asked} files were tried, {refused} of them refused"


def differences(folder, schema):
    names = json.loads(run("list", "--json")[1])["gpus"]
    for name in names:
        code, sheet, said = run("gpus", "show", name, "--json")
        path = folder / f"{name}.json"
        path.write_text(sheet)
        if not allows(schema, json.loads(sheet), schema):
            yield f"gpus show {name} --json: not as docs/gpu.schema.json has it"
        if run("gpus", "show", str(path), "--json")[1] != sheet:
            yield f"gpus show {name} --json: the file of it shows another sheet"
        tiny = ["--seq", "16", "--dim", "4", "--heads", "1", "--br", "4", "--bc", "4", "--dtype", "f32", "--json"]
        of_file, of_name = (run("run", "flash_v2", "--gpu", g, *tiny) for g in (str(path), name))
        if of_file != of_name or of_name[0] != 0:
            yield f"--gpu {name} and the file that gpus show writes of it are two machines: {of_name[2]}{of_file[2]}"
    if len(names) < 10:
        yield f"presets: {names}"


def main():
    text = (SOURCE / "docs" / "gpu.schema.json").read_text()
    schema = json.loads(text)
    faults = [f"{f.name}: not as the schema has it" for f in (SOURCE / "gpus").glob("*.json")
              if not allows(schema, json.loads(f.read_text()), schema)]
    if run("gpus", "--schema")[1] != text:
        faults.append("gpus --schema prints another schema")
    with tempfile.TemporaryDirectory() as folder:
        faults += [*disagreements(pathlib.Path(folder), schema), *differences(pathlib.Path(folder), schema)]
    print("\n".join(faults[:20]) or "the schema and the reader agree")
    sys.exit(bool(faults))


main()
