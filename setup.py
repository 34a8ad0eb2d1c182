"""Builds the extension modules; all else that packaging needs to know is in pyproject.toml."""

import os
import platform
import sys
from pathlib import Path
from typing import Any

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.editable_wheel import editable_wheel

# A list and not a glob: a source that is missing stops the build instead of making a wheel without it.
MODULES = {
    "engine/rules": ["moves", "round", "perft"],
    "engine/policy": ["playout", "simulate"],
    "engine/belief": ["belief"],
    "engine/value": ["endgame"],
    "engine/search": ["search"],
    "engine/training": ["positions"],
    "engine/measure": ["measure"],
    "protocol/notation": ["observation_writer"],
    "protocol/process": ["pipes"],
}
PROGRAMS = {"keeper": "protocol/process"}  # in C, to be run and not to be imported
HEADERS = {"keeper": ["protocol/process/filter.h"]}  # what they include
C_SUFFIX = ".c11"  # of what is written by hand: .c files are what Cython makes
JOBS = 2

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
}


def dotted(package: str, name: str) -> str:
    """The full name of a module in the folder ``package``."""
    return f"caboose.{package.replace('/', '.')}.{name}"


def compile_flags() -> list[str]:
    """The flags of every module: for any x86-64 of the last 15 years, or for this machine with CABOOSE_NATIVE=1."""
    # No fused multiply-add: it would make results differ between builds. No debug information: a third less to wait.
    # gcc's vectoriser makes these short loops slower (docs/explanation/performance.md).
    flags = ["-O3", "-fno-tree-vectorize", "-ffp-contract=off", "-g0"]
    if os.environ.get("CABOOSE_NATIVE", "0") not in ("", "0"):
        flags.append("-march=native")
    elif platform.machine() in ("x86_64", "AMD64"):
        flags += ["-msse4.2", "-mpopcnt"]  # x86-64-v2, in words that gcc before 11 understands
    return flags


def link_packages() -> str:
    """Makes build/pkg/caboose with a link to each package's folder, as installed. Cython and mypy look there, and so do
    Python and the mypy of others after an editable install."""
    top = Path("build/pkg/caboose")
    top.mkdir(parents=True, exist_ok=True)
    for place in ("engine", "protocol", "bots", "table", "arena", "cli", "package/__init__.py", "package/py.typed"):
        link = top / Path(place).name
        if not link.is_symlink():
            link.symlink_to(Path("../../..") / place)
    return str(top.parent)


def record(flags: list[str]) -> str:
    """A file that changes when ``flags`` do: a dependency of every module, so that other flags build anew."""
    path = Path(f"build/flags-{sys.implementation.cache_tag}")
    text = " ".join(flags)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return str(path)


class BuildExtensions(build_ext):
    """Runs Cython only when extensions are built: not for an sdist, not for metadata."""

    def finalize_options(self) -> None:
        super().finalize_options()
        if self.inplace:  # an editable install; its own folder is a temporary one, in which all is built anew each time
            self.build_lib = f"build/inplace-{sys.implementation.cache_tag}"
        self.parallel = JOBS

    def get_ext_filename(self, fullname: str) -> str:
        name = super().get_ext_filename(fullname)
        program = fullname.rpartition(".")[2] in PROGRAMS  # it is asked for with and without the package
        return name.split(".")[0] if program else name

    def build_extension(self, extension: Extension) -> None:
        if extension.name.rpartition(".")[2] not in PROGRAMS:
            super().build_extension(extension)
            return
        self.compiler.src_extensions = [*self.compiler.src_extensions, C_SUFFIX]
        objects = self.compiler.compile(
            extension.sources,
            output_dir=self.build_temp,
            extra_preargs=["-x", "c"],
            extra_postargs=["-O2", "-Wall"],
            depends=extension.depends,
        )
        target = Path(self.get_ext_fullpath(extension.name))
        self.compiler.link_executable(objects, target.name, output_dir=str(target.parent))

    def build_extensions(self) -> None:
        path = link_packages()
        flags = compile_flags()
        made = cythonize(
            self.extensions,
            include_path=[path],
            build_dir="build/cython",
            compiler_directives=DIRECTIVES,
            nthreads=JOBS,
        )
        for extension, new in zip(self.extensions, made, strict=True):
            extension.sources = new.sources
            extension.depends = [*new.depends, record(flags)]
            extension.extra_compile_args = flags
        super().build_extensions()


class EditableWheel(editable_wheel):
    """An editable install that type checkers see into, too.

    What setuptools installs for folders with other names is a hook of the import system. Type checkers know of no hooks
    (https://setuptools.pypa.io/en/latest/userguide/development_mode.html), but they look into a folder that a .pth file
    names. The hook stays for the time after `make clean`.
    """

    def _select_strategy(self, *arguments: Any) -> Any:
        return WithFolder(super()._select_strategy(*arguments))


class WithFolder:
    """What an editable install writes, and a .pth file for build/pkg."""

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy

    def __enter__(self) -> "WithFolder":
        self._strategy.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._strategy.__exit__(*error)

    def __call__(self, wheel: Any, files: Any, mapping: Any) -> None:
        self._strategy(wheel, files, mapping)
        wheel.writestr("__editable__.caboose-folder.pth", f"{Path(link_packages()).absolute()}\n".encode())


if __name__ == "__main__":
    setup(
        ext_modules=[
            *[
                Extension(dotted(package, name), [f"{package}/{name}.pyx"], include_dirs=["engine/rules"])
                for package, names in MODULES.items()
                for name in names
            ],
            *[
                Extension(dotted(package, name), [f"{package}/{name}{C_SUFFIX}"], depends=HEADERS[name])
                for name, package in PROGRAMS.items()
            ],
        ],
        cmdclass={"build_ext": BuildExtensions, "editable_wheel": EditableWheel},
    )
