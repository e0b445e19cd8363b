"""Builds the wheel's compiled parts with CMake: the module, the command line and what it loads for files of Python."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
TARGETS = ["tilescope", "tilescope_module", "tilescope_interpreter"]


def cmake(*arguments):
    if code := subprocess.run(["cmake", *arguments]).returncode:
        sys.exit(f"tilescope: cmake failed ({code}); its message is above. CMAKE_ARGS gives it options: without kernels, "
                 "for example, CMAKE_ARGS=-DTILESCOPE_CUDA=OFF")


class CMakeBuild(build_ext):
    """TILESCOPE_BUILD names a folder where all of it is built already; without, that is done here, with what CMAKE_ARGS
    has for cmake."""

    def run(self):
        given = os.environ.get("TILESCOPE_BUILD")
        build = pathlib.Path(given or ROOT / "build-wheel")
        if not given:
            cmake("-S", ROOT, "-B", build, "-DTILESCOPE_PYTHON=ON", "-DTILESCOPE_GUI=OFF", "-DTILESCOPE_TESTS=OFF",
                  f"-DPython3_EXECUTABLE={getattr(sys, '_base_executable', sys.executable)}",
                  *shlex.split(os.environ.get("CMAKE_ARGS", "")))
            cmake("--build", build, "-j", str(os.cpu_count()), "--target", *TARGETS)
        package = (ROOT / "python" if self.inplace else pathlib.Path(self.build_lib)) / "tilescope"
        (package / "bin").mkdir(parents=True, exist_ok=True)
        for module in (build / "python" / "tilescope").glob("_core*.so"):
            shutil.copy2(module, package)
        for program in ("tilescope", "tilescope-python.so"):
            shutil.copy2(build / program, package / "bin")


version = re.search(r"project\(TileScope VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
folder = ROOT / "build-wheel" / "setuptools"  # out of the sources
folder.mkdir(parents=True, exist_ok=True)
setup(
    version=version,
    package_dir={"": "python"},
    packages=["tilescope"],
    package_data={"tilescope": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("tilescope._core", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    options={"build": {"build_base": str(folder)}, "egg_info": {"egg_base": str(folder)}},
)
