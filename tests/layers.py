"""Dependencies between folders, read from the includes: a file may include only what its folder ("room") may depend on.

Usage: layers.py SOURCE_DIR. Also checks other rules of the folders: one namespace each, no ImGui below gui/, CUDA only
in kernels and device/, threads in one place, no attention in core/, no slow library in the headers of core/.
"""
import functools
import pathlib
import re
import sys

MACHINE = {"core/text", "core/machine"}
CORE = MACHINE | {"core/record", "core/time"}
CONTRACT = MACHINE | {"algorithms/contract"}
LAB_MODEL = {"lab/system", "lab/gpu", "lab/library", "lab/workload", "lab/run", "lab/model"}
LAB = CORE | CONTRACT | LAB_MODEL | {"lab/report", "lab/study"}
BELOW_SHOW = LAB | {"lab/flags", "lab/figure", "lab/own"}
SHOW_STAGE = {"show/run", "show/words", "show/state", "show/stage"}
SHOW = BELOW_SHOW | SHOW_STAGE | {"show/files"}
GUI = SHOW | {"gui", "gui/draw"}
PANELS = GUI - {"core/text"}  # panels take numbers as words from show/

# Folder: what its files may include besides their own folder, and the namespace of its code.
ROOMS = {
    "core/text": (set(), "tilescope::text|tilescope"),
    "core/machine": ({"core/text"}, "tilescope|(tilescope::)?operation"),
    "core/record": (MACHINE, "tilescope"),
    "core/time": (MACHINE | {"core/record"}, "tilescope"),
    "algorithms/contract": (MACHINE | {"core/time"}, "tilescope|computation"),
    "include/tilescope": (CONTRACT, "tilescope"),
    "algorithms/cuda": (CONTRACT, "tilescope(::cuda)?"),
    "algorithms/softmax": (CONTRACT, r"tilescope(::softmax_\w+)?"),
    "algorithms/attention": (CONTRACT | {"algorithms/softmax"}, r"tilescope(::\w+)?"),
    "algorithms/attention_backward": (CONTRACT | {"algorithms/attention"}, r"tilescope(::\w+)?"),
    "lab/system": (MACHINE, "tilescope::lab"),
    "lab/gpu": (CORE | CONTRACT | {"lab/system"}, "tilescope::lab"),
    "lab/library": (CORE | CONTRACT, "tilescope::lab"),
    "lab/workload": (CORE | CONTRACT | {"lab/system"}, "tilescope::lab"),
    "lab/run": (CORE | CONTRACT | {"lab/system", "lab/gpu", "lab/workload"}, "tilescope::lab"),
    "lab/model": (CORE | CONTRACT | LAB_MODEL, "tilescope::lab"),
    "lab/report": (CORE | CONTRACT | LAB_MODEL, "tilescope::lab"),
    "lab/study": (LAB, "tilescope::lab"),
    "lab/own": (LAB, "tilescope::lab"),
    "lab/flags": (LAB | {"lab/own"}, "tilescope::lab|CLI"),
    "lab/figure": (LAB | {"lab/flags"}, "tilescope::lab"),
    "device": (LAB | {"lab/flags", "lab/figure", "algorithms/cuda"}, "tilescope::device"),
    "show/run": (BELOW_SHOW, "tilescope::show"),
    "show/words": (BELOW_SHOW | {"show/run"}, "tilescope::show"),
    "show/state": (BELOW_SHOW | {"show/run"}, "tilescope::show|CLI"),
    "show/stage": (BELOW_SHOW | SHOW_STAGE, "tilescope::show"),
    "show/files": (SHOW, "tilescope::show"),
    "cli": (SHOW | {"device", "algorithms/cuda"}, "tilescope::cli"),
    "python/bindings": (LAB | {"lab/flags", "device"}, "tilescope::python"),
    "gui/draw": (SHOW | {"gui"}, "tilescope::gui"),
    "gui": (GUI, r"tilescope::gui|wall|machine|gantt|row|explore|code|detail|controls|transport"),
    "gui/machine": (PANELS, "tilescope::gui::machine"),
    "gui/explore": (PANELS, "tilescope::gui::explore"),
    "gui/gantt": (PANELS, "tilescope::gui::gantt"),
    "gui/row": (PANELS, "tilescope::gui::row"),
    "gui/wall": (PANELS, "tilescope::gui::wall"),
    "gui/code": (PANELS, "tilescope::gui::code"),
    "gui/controls": (PANELS, "tilescope::gui::controls"),
    "gui/detail": (PANELS, "tilescope::gui::detail"),
    "gui/transport": (PANELS, "tilescope::gui::transport"),
    "gui/shell": (GUI, "tilescope::gui::shell|CLI"),
    "gui/web": (GUI | {"gui/shell"}, "tilescope::gui::(web|shell)"),  # the page's part of the shell
}

# What the kernel of an algorithm may include besides.
KERNEL = r"algorithms/\w+/\w+/kernel\w*\.(hpp|cuh?)"

# External libraries, and the only files that may include them.
GUESTS = {
    r"imgui|GLFW|GLES|backends/": r"gui/.*",
    r"emscripten": r"gui/web/.*",
    r"dlfcn": r"lab/own/.*|python/bindings/interpreter\.cpp",
    r"cuda": r"algorithms/cuda/.*\.cuh|algorithms/.*\.cu|device/.*\.cuh?|device/(device|kernel_run)\.cpp",
    r"CLI/": r"(cli|lab/flags)/.*|show/state/state\.cpp|gui/(shell/(asked|main)|web/main)\.cpp|python/bindings/requests\.cpp",
    r"pybind11|Python": r"python/bindings/.*",
    r"(unistd|spawn|signal|fcntl|sys/\w+)\.h$":
        r"(cli|device)/.*|lab/(system/(atomic_file|child|memory|output|own_code)|figure/picture|own/compile)\.cpp|gui/shell/native\.cpp|python/bindings/running\.cpp",
    # Threads: at_once() and BackgroundThread for all code, and the terminal's progress line.
    r"(thread|mutex|shared_mutex|future|condition_variable|stop_token|semaphore|latch|barrier)$":
        r"core/machine/parallel\..pp|cli/progress\..pp|lab/system/own_code\.cpp",
    r"atomic$": r"core/machine/.*|lab/system/(atomic_file|own_code)\.cpp|show/run/job\.hpp|device/ncu_run\.hpp|python/bindings/running\.cpp",
}

# Headers that give access to the elements of tiles, and the only files that may include them.
KEYS = {
    "core/machine/apply.hpp": r"core/machine/(operations/.*|apply\.cpp|matmul\.cpp)",
    "core/machine/operations/elements.hpp": r"core/machine/operations/.*",
}

# Words for people, and the files that make texts of them. No other file may read them, because no decision rests on
# words.
WORDS = {
    r"\bformula_of\(|\bsentence_of\(|(\bop\.|operation->)unit\b":
        r"core/machine/(effect\.[ch]pp|operation\.hpp|operations/.*)|show/words/(formula|narration)\.cpp",
    r"\bfind_operation\(": r"core/machine/operation\.[ch]pp|core/record/trace_events\.cpp",
    r"\boperation [!=]= &operation::": r"core/record/trace_events\.cpp",
    r"\bremark\.find\(|\bremark [!=]= \"|\bunit\) [!=]= \"|\blimit\) [!=]= \"": r"",
}

# An algorithm and a GPU describe themselves in their own folder and file; no other code compares their names. A
# default, or a list of what a figure draws, looks them up and compares nothing.
def names_compared():
    source = pathlib.Path(__file__).parent.parent
    names = [p.parent.name for p in source.glob("algorithms/*/*/algorithm.hpp")] + [p.stem for p in source.glob("gpus/*.json")]
    one = rf'"(?:{"|".join(sorted(names))})\w*_?"'
    return rf"[!=]= *(?:std::string(?:_view)?\()?{one}|{one}\)? *[!=]=|(?:starts|ends)_with\({one}|case {one}"


# Libraries that take long to compile, and the headers of core that include them, directly or not: no other header may.
HEAVY = {
    r"nlohmann/": {"core/record/json_entry.hpp", "core/record/trace_events.hpp"},
    r"Eigen/": {"core/machine/operations/elements.hpp", "core/machine/operations/exponential.hpp"},
    r"CLI/": set(),
}


NAMES_COMPARED = re.compile(names_compared())


def room_of(path):
    """The longest folder of ROOMS that contains the path; None for a file in none (tests, bench, examples)."""
    inside = [room for room in ROOMS if path.startswith(room + "/")]
    return max(inside, key=len) if inside else None


def faults_of(path, text):
    room = room_of(path)
    allowed, namespace = ROOMS[room]
    # An algorithm is complete without its kernel, so only the kernel's own files may include what kernels need.
    of_kernel = re.fullmatch(KERNEL, path)
    if of_kernel:
        allowed = allowed | {"algorithms/cuda"}
    for line in text.splitlines():
        if found := re.match(r'#include "([^"]+)"', line):
            target = room_of(found[1])
            if target != room and target not in allowed:
                yield f"{path} includes {found[1]}: {room} does not stand on {target}"
            if found[1] in KEYS and not re.fullmatch(KEYS[found[1]], path):
                yield f"{path} includes {found[1]}, which is for {KEYS[found[1]]}"
            if re.fullmatch(KERNEL, found[1]) and not of_kernel:
                yield f"{path} includes {found[1]}, which is for kernels"
        if found := re.match(r"#include <([^>]+)>", line):
            for guest, host in GUESTS.items():
                if re.match(guest, found[1]) and not re.fullmatch(host, path):
                    yield f"{path} includes <{found[1]}>, which is for {host}"
        if found := re.match(r"namespace ([\w:]+) \{", line):
            # Specialisations for Eigen and the standard library are in the namespaces of these.
            if not re.fullmatch(namespace, found[1]) and not found[1].startswith(("Eigen", "std")):
                yield f"{path} writes in namespace {found[1]}: {room} has {namespace}"
    for words, readers in WORDS.items():
        if (found := re.search(words, text)) and not re.fullmatch(readers, path):
            yield f"{path} reads {found[0]!r}, which is for people: ask what it is, by its effect or its enum"
    if room not in ("algorithms/softmax", "algorithms/attention", "algorithms/attention_backward"):
        if found := NAMES_COMPARED.search(text):
            yield f"{path} compares a name, {found[0]!r}: ask the algorithm's description, or the GPU's field"
    if path.startswith("core/") and re.search(r"attention", text, re.I):
        yield f"{path} speaks of attention: core knows nothing of what is computed"


def brought_along(path, read, seen):
    """Every <header> that a file includes, directly or not. `read` gives the text of a file; `seen` becomes the file
    and all of our files that it includes."""
    if path in seen:
        return set()
    seen.add(path)
    text = read(path)
    found = set(re.findall(r"^ *# *include <([^>]+)>", text, re.M))
    for inner in re.findall(r'^ *# *include "([^"]+)"', text, re.M):
        found |= brought_along(inner, read, seen)
    return found


def heavy_faults(headers, read, heavy=None):
    """Headers that include a heavy library without being listed, or that are listed and do not."""
    for library, listed in (HEAVY if heavy is None else heavy).items():
        bring = {h for h in headers if any(re.match(library, f) for f in brought_along(h, read, set()))}
        yield from (f"{h} brings <{library}> along: everything that includes it takes longer to compile"
                    for h in sorted(bring - listed))
        yield from (f"{h} does not bring <{library}> along: take it off the list in tests/layers.py"
                    for h in sorted(listed - bring))


# Header: names that need it. One standard library may bring such a header along with another; the next may not.
STANDARD = {"cstdint": r"std::u?int\d+_t\b", "algorithm": r"std::(min|max|sort|clamp|any_of|find_if)\b",
            "stdexcept": r"std::(runtime_error|logic_error|invalid_argument)\b", "map": r"std::map<",
            "cmath": r"std::(sqrt|exp|log|pow|llround|round|floor|ceil|isfinite|isnan|ldexp)\(",
            "exception": r"std::exception\b", "cstdio": r"std::(snprintf|printf|fprintf|fputs)\b"}


def standard_faults(path, read):
    """Names of the standard library whose header a file includes neither itself nor by one of ours."""
    code = re.sub(r"//.*", "", read(path))
    there = brought_along(path, read, set())
    for header, names in STANDARD.items():
        if header not in there and (found := re.search(names, code)):
            yield f"{path} says {found[0]} and lacks <{header}>"


# What the author of a tile program reads, with all that it includes, must stay short.
AUTHORS = "algorithms/contract/algorithm.hpp"
MOST_LINES = 1300


def check_itself():
    """Each kind of fault is found where it is planted."""
    planted = {
        "core/machine/x.hpp": '#include "lab/workload/npy.hpp"\n',
        "core/record/x.cpp": "#include <imgui.h>\n",
        "gui/machine/x.cpp": '#include "gui/code/parts.hpp"\n',
        "show/words/x.cpp": "namespace tilescope::gui {\n",
        "core/time/x.cpp": "// as attention does\n",
        "gui/detail/x.cpp": '#include "core/text/numbers.hpp"\n',
        "lab/study/x.cpp": '#include "show/run/run.hpp"\n',
        "algorithms/attention/b/simulated.cpp": '#include "core/machine/apply.hpp"\n',
        "algorithms/attention/a/simulated.cpp": '#include "core/record/trace.hpp"\n',
        "lab/run/y.cpp": "#include <thread>\n",
        "show/run/y.cpp": "#include <future>\n",
        "gui/y.cpp": "#include <atomic>\n",
        "gui/shell/y.cpp": "#include <spawn.h>\n",
        "algorithms/attention/a/algorithm.hpp": '#include "algorithms/attention/a/kernel.hpp"\n',
        "core/time/y.cpp": 'return d.operation->unit == comparison;\n',
        "show/stage/z.cpp": 'if (std::string_view(formula_of(e)) == "o += a") return;\n',
        "lab/figure/x.cpp": 'return o.remark.find(" of SRAM ") != npos;\n',
        "algorithms/contract/x.hpp": '#include "algorithms/cuda/kernel.hpp"\n',
        "lab/model/z.cpp": 'if (std::string_view(e.algorithm->name) == "flash_v1") return;\n',
        "show/run/w.cpp": '#include "show/words/narration.hpp"\n',
        "lab/workload/w.cpp": '#include "lab/run/experiment.hpp"\n',
        "lab/gpu/w.cpp": 'return gpu.name.starts_with("H200");\n',
    }
    for path, text in planted.items():
        assert list(faults_of(path, text)), f"a fault planted in {path} was not found"
    heavy = {"core/a.hpp": '#include "core/b.hpp"\n', "core/b.hpp": "#include <Eigen/Core>\n", "core/c.hpp": ""}
    assert len(list(heavy_faults(heavy, heavy.get, {"Eigen/": {"core/b.hpp", "core/c.hpp"}}))) == 2
    lacking = {"a.hpp": "std::uint8_t x;  // std::map<int>\n", "b.cpp": '#include "c.hpp"\nstd::map<int> x;', "c.hpp": "#include <map>"}
    assert len([f for name in lacking for f in standard_faults(name, lacking.get)]) == 1
    assert not list(faults_of("show/run/x.cpp", '#include "lab/flags/options.hpp"\nnamespace tilescope::show {\n'))
    assert not list(faults_of("algorithms/softmax/a/kernel.hpp", '#include "algorithms/cuda/kernel.hpp"\n'))


def main():
    source = pathlib.Path(sys.argv[1])
    check_itself()
    faults, files = [], 0

    @functools.cache
    def read(name):
        return (source / name).read_text() if (source / name).is_file() else ""  # otherwise the build makes the file

    for path in sorted(source.rglob("*")):
        name = path.relative_to(source).as_posix()
        if path.suffix not in (".hpp", ".cpp", ".cu", ".cuh") or name.split("/")[0].startswith("build"):
            continue
        if name.split("/")[0] in ("tests", "bench", "examples"):
            continue
        if not room_of(name):
            faults.append(f"{name} is in no room that tests/layers.py knows")
            continue
        files += 1
        faults += faults_of(name, read(name))
        faults += standard_faults(name, read)
    headers = {h.relative_to(source).as_posix() for h in source.glob("core/**/*.hpp")}
    faults += heavy_faults(headers, read)
    brought_along(AUTHORS, read, authors := set())
    lines = sum(len(read(name).splitlines()) for name in authors)
    if lines > MOST_LINES:
        faults.append(f"the author of a tile program has to read {lines} lines of headers: at most {MOST_LINES}")
    print("\n".join(faults) or f"{files} files stand where they may")
    return 1 if faults or files < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
