"""What is promised of the package: one version, no generic names, complete sdist and wheel, stubs that match."""

import ast
import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import version
from pathlib import Path

import pytest

import caboose
from paths import ROOT

PACKAGES = ("engine", "protocol", "bots", "table", "arena", "cli")
COMPILED = sorted(
    path.relative_to(ROOT).with_suffix("").as_posix()
    for path in ROOT.glob("*/*/*.pyx")
    if path.parts[len(ROOT.parts)] != "build"
)
PROGRAM = "protocol/process/keeper"
LINKS = ROOT / "build" / "pkg"
NOT_SOURCE = shutil.ignore_patterns(".*", "keeper", "build", "dist", "*.egg-info", "*.so", "__pycache__")


def run(*command: str | Path, cwd: Path) -> str:
    """What ``command`` prints; the test fails, showing it, when the command does."""
    result = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert result.returncode == 0, result.stdout
    return result.stdout


def package_files() -> set[str]:
    """All that an installed package has besides the compiled modules, as paths under ``caboose/``."""
    kinds = {".py", ".pyi", ".pxd", ".h", ".tsv", ".css", ".gz", ".typed"}
    files = {"caboose/__init__.py", "caboose/py.typed"}
    return files | {
        f"caboose/{path.relative_to(ROOT).as_posix()}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.suffix in kinds or path.name == "py.typed"
    }


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an unpacked sdist, made from a copy of the sources that holds nothing built."""
    folder = tmp_path_factory.mktemp("sdist")
    shutil.copytree(ROOT, folder / "source", ignore=NOT_SOURCE)
    run(sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", folder, cwd=folder / "source")
    (archive,) = folder.glob("caboose-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def test_version_is_that_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert version("caboose") == caboose.__version__ == project["version"]
    with pytest.raises(AttributeError, match="no attribute 'version'"):
        caboose.version  # noqa: B018


def test_who_does_not_ask_for_the_version_does_not_wait_for_it() -> None:
    code = "import sys, caboose; assert 'importlib.metadata' not in sys.modules; print(caboose.__version__)"
    code = f"import sys; sys.path.append({str(LINKS)!r}); {code}"
    assert run(sys.executable, "-S", "-c", code, cwd=ROOT) == "unknown\n"


def test_type_checkers_find_what_is_installed() -> None:
    """They know of no import hooks: they look into folders, and into those that .pth files name."""
    finder = pytest.importorskip("mypy.modulefinder")
    folders = [folder for some in finder.get_search_dirs(sys.executable) for folder in some]
    cache = finder.FindModuleCache(finder.SearchPaths((), (), tuple(folders), ()), None, None)
    for name in ("caboose", *(f"caboose.{name.replace('/', '.')}" for name in COMPILED)):
        assert isinstance(cache.find_module(name), str), name


@pytest.mark.parametrize("name", PACKAGES)
def test_folders_are_no_top_level_packages(name: str) -> None:
    assert importlib.util.find_spec(name) is None, "the root is on the path; run pytest, not python -m pytest"
    assert importlib.util.find_spec(f"caboose.{name}") is not None


@pytest.mark.parametrize("name", COMPILED)
def test_modules_are_compiled_and_have_stubs(name: str) -> None:
    file = importlib.import_module(f"caboose.{name.replace('/', '.')}").__file__
    assert file is not None
    assert file.endswith(tuple(EXTENSION_SUFFIXES))
    assert (ROOT / f"{name}.pyi").is_file()


def test_every_package_is_typed() -> None:
    assert [name for name in PACKAGES if not (ROOT / name / "py.typed").is_file()] == []


def test_sdist_has_all_sources_and_nothing_built(sdist: Path) -> None:
    files = {path.relative_to(sdist).as_posix() for path in sdist.rglob("*") if path.is_file()}
    needed = {name.removeprefix("caboose/") for name in package_files()} - {"__init__.py", "py.typed"}
    needed |= {"package/__init__.py", "package/py.typed"}
    needed |= {f"{name}.pyx" for name in COMPILED} | {f"{PROGRAM}.c11"}
    needed |= {"pyproject.toml", "setup.py", "README.md", "LICENSE", "CHANGELOG.md", "Makefile", "tests/conftest.py"}
    assert needed - files == set()
    assert [name for name in files if name.endswith((".so", ".pyc", PROGRAM)) or name.startswith("build/")] == []


def test_installed_files_all_lie_under_caboose(sdist: Path, tmp_path: Path) -> None:
    run(sys.executable, "setup.py", "--quiet", "build_py", "--build-lib", tmp_path, cwd=sdist)
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert files == package_files()


@pytest.mark.slow
def test_wheel_from_the_sdist_alone(sdist: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, cwd=sdist)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        files = {name for name in archive.namelist() if ".dist-info/" not in name}
    compiled = {f"caboose/{name}{EXTENSION_SUFFIXES[0]}" for name in COMPILED}
    assert files == package_files() | compiled | {f"caboose/{PROGRAM}"}

    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    imports = [f"caboose.{name}" for name in PACKAGES] + [f"caboose.{name.replace('/', '.')}" for name in COMPILED]
    run(python, "-c", f"import {', '.join(imports)}", cwd=tmp_path)
    run(python.with_name("caboose"), "--help", cwd=tmp_path)
    call = ["match", "random", "greedy", "--rounds", "1", "--blocks", "1"]  # each in a process, by the program
    run(python.with_name("caboose"), *call, cwd=tmp_path)


Name = tuple[str, str]  # class, or "" at the top; name


def stub_names(stub: Path) -> list[Name]:
    """What ``stub`` defines, in order."""
    names: list[Name] = []
    for node in ast.parse(stub.read_text()).body:
        names += (("", name) for name in defined(node))
        if isinstance(node, ast.ClassDef):
            names += ((node.name, name) for member in node.body for name in defined(member))
    return names


def defined(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name) | ast.ClassDef(name) | ast.AnnAssign(ast.Name(name)):
            return [name]
        case _:
            return []


def cython_names(source: Path, keywords: str) -> list[Name]:
    """What ``source`` (.pyx or .pxd) defines with ``keywords``, a pattern, as functions and in classes, in order."""
    names: list[Name] = []
    scope = ""
    for line in source.read_text().splitlines():
        if found := re.match(r"(?:cdef )?class (\w+)", line):
            scope = found[1]
            names.append(("", scope))
        elif found := re.match(rf"(?:{keywords}) [^=(]*?(\w+)\(|(\w+)(?:: [^=]+)? = ", line):
            scope = ""
            names.append(("", found[1] or found[2]))
        elif scope and (found := re.match(rf" {{4}}(?:{keywords}) [^=(]*?(\w+)\(| {{4}}(\w+): ", line)):
            names.append((scope, found[1] or found[2]))
    return names


@pytest.mark.parametrize("name", COMPILED)
def test_source_stub_and_declarations_stand_in_one_order(name: str) -> None:
    source = ROOT / f"{name}.pyx"
    source_names = cython_names(source, "def|cpdef|cdef")
    others = [stub_names(source.with_suffix(".pyi"))]
    if source.with_suffix(".pxd").is_file():
        others.append(cython_names(source.with_suffix(".pxd"), "cdef|cpdef"))
    for names in others:
        both = set(names) & set(source_names)
        assert unique(names, both) == unique(source_names, both)


@pytest.mark.parametrize("name", COMPILED)
def test_stubs_have_all_public_names(name: str) -> None:
    source = ROOT / f"{name}.pyx"
    # A method may be in the stub of the base class only.
    stubbed = {name for _, name in stub_names(source.with_suffix(".pyi"))}
    assert {name for _, name in cython_names(source, "def|cpdef") if name[0] != "_"} - stubbed == set()


def unique(names: list[Name], wanted: set[Name]) -> list[Name]:
    """The ``wanted`` ones of ``names`` in order, each once: a property has a getter and a setter."""
    return [name for name in dict.fromkeys(names) if name in wanted]
