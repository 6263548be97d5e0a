"""The cache of compiled kernels: keyed to all kernels' sources, of one size, and never in the way."""

from __future__ import annotations

import ast
import errno
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from swftools.kernel import Kernel, kernel, sources
from swftools.simulator.engine import simulate_events
from swftools.simulator.registry import list_policies

needs_jit = pytest.mark.skipif(not hasattr(kernel(lambda x: x).compiled, "overloads"), reason="NUMBA_DISABLE_JIT")

FIRST_WAITING = """
import logging
logging.basicConfig(level=logging.INFO)
from swftools.kernel import watch_compiling
import numpy as np
from swftools.simulator.machine.state import empty_machine, no_requests
from swftools.simulator.machine.views import first_waiting
names = []
with watch_compiling(lambda count, name: names.append(name.rpartition(".")[2])):
    print(first_waiting(empty_machine(no_requests(3), 3, np.zeros(2))), *names)
"""
"""Prints what it finds in an empty queue, which is the constant NOBODY of another file, and what was compiled."""

Run = Callable[..., str]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package, without what is compiled of it."""
    shutil.copytree(sources.PACKAGE, tmp_path / "swftools", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


OURS = str(sources.PACKAGE.parent)


def run(folder: Path, text: str = FIRST_WAITING, **variables: str) -> str:
    """Run Python in a process that imports from a folder; return what it prints."""
    environment = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    command = [sys.executable, "-c", text]
    variables = {"PYTHONDONTWRITEBYTECODE": "1", **variables}
    done = subprocess.run(
        command, cwd=folder, env=environment | variables, check=True, text=True, stdout=subprocess.PIPE
    )
    return done.stdout.strip()


def kept(folder: Path, suffix: str = "nbi") -> list[str]:
    """Return the names of the cache's files."""
    return sorted(path.name for path in folder.rglob(f"*.{suffix}"))


@needs_jit
def test_a_change_in_another_file_is_seen(copy: Path) -> None:
    """A constant that a called kernel of another file uses: the caller is compiled anew, and the old file replaced."""
    assert run(copy) == "-1 first_waiting next_fitting next_fitting_place"
    assert run(copy) == "-1"
    files = kept(copy)
    source = copy / "swftools/simulator/machine/waiting_queue.py"
    text = source.read_text()
    assert "NOBODY = -1\n" in text
    source.write_text("# A line more, which moves every function.\n" + text.replace("NOBODY = -1\n", "NOBODY = -7\n"))
    assert run(copy) == "-7 first_waiting next_fitting next_fitting_place"
    assert run(copy) == "-7"
    assert kept(copy) == files
    assert len(kept(copy, "nbc")) == len(files)


@pytest.mark.slow
@needs_jit
def test_other_files_do_not_matter(copy: Path) -> None:
    """A file without kernels may change: nothing is compiled anew."""
    run(copy)
    errors = copy / "swftools/errors.py"
    errors.write_text(errors.read_text() + "\n# A comment.\n")
    assert run(copy) == "-1"


@pytest.mark.slow
@needs_jit
def test_size_and_time_of_a_file_are_not_enough(copy: Path) -> None:
    """A wheel's files may have one time all: the text counts."""
    source = copy / "swftools/simulator/machine/waiting_queue.py"
    before = source.stat()
    run(copy)
    source.write_text(source.read_text().replace("NOBODY = -1\n", "NOBODY = -7\n"))
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert source.stat().st_size == before.st_size
    assert run(copy).startswith("-7 ")


@needs_jit
def test_a_file_changed_while_the_process_runs(copy: Path) -> None:
    """What was imported before is run, and not kept as if it were what the file says now."""
    source = copy / "swftools/simulator/machine/waiting_queue.py"
    changing = FIRST_WAITING.replace(
        "names = []",
        f"names = []\nfrom pathlib import Path\nfile = Path({str(source)!r})\n"
        "file.write_text(file.read_text().replace('NOBODY = -1', 'NOBODY = -7'))",
    )
    assert run(copy, changing) == "-1 first_waiting next_fitting next_fitting_place"
    assert kept(copy) == []
    assert run(copy) == "-7 first_waiting next_fitting next_fitting_place"


@needs_jit
@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(copy: Path, tmp_path: Path) -> None:
    """The user's cache directory is taken, as in an installation of the system."""
    for folder in [copy / "swftools", *(path for path in (copy / "swftools").rglob("*") if path.is_dir())]:
        folder.chmod(0o555)
    assert run(copy, HOME=str(tmp_path)) == "-1 first_waiting next_fitting next_fitting_place"
    assert run(copy, HOME=str(tmp_path)) == "-1"


@needs_jit
def test_the_users_directory_is_taken(copy: Path) -> None:
    """Where no folder can be made beside the source (a file has its name), the cache is in the user's directory."""
    for folder in [copy / "swftools", *(path for path in (copy / "swftools").rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("a file")
    assert run(copy, XDG_CACHE_HOME=str(copy / "cache")) == "-1 first_waiting next_fitting next_fitting_place"
    assert run(copy, XDG_CACHE_HOME=str(copy / "cache")) == "-1"
    assert len(kept(copy / "cache")) == 3


@needs_jit
def test_nothing_can_be_written(copy: Path) -> None:
    """Then kernels are compiled in each process."""
    for folder in [copy / "swftools", *(path for path in (copy / "swftools").rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("a file")
    for _ in range(2):
        assert run(copy, XDG_CACHE_HOME="/dev/null/cache") == "-1 first_waiting next_fitting next_fitting_place"


@needs_jit
@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        ("nbi", b"no pickle at all"),
        ("nbc", b""),
        *(pytest.param("nbi", damage, marks=pytest.mark.slow) for damage in (b"", b"\x80\x04")),
        *(pytest.param("nbc", damage, marks=pytest.mark.slow) for damage in (b"no pickle at all", b"\x80\x04")),
    ],
)
def test_damaged_files(copy: Path, suffix: str, damage: bytes) -> None:
    """Files of the cache that a crash cut off, or made senseless, are replaced."""
    run(copy)
    for path in copy.rglob(f"*.{suffix}"):
        path.write_bytes(damage)
    assert run(copy) == "-1 first_waiting next_fitting next_fitting_place"
    assert run(copy) == "-1"


@needs_jit
def test_a_policy_in_a_file_of_ones_own(tmp_path: Path) -> None:
    """It is keyed to its own file, and to those that compiled functions it calls stand in."""
    (tmp_path / "own_helpers.py").write_text(
        "from swftools.kernel import kernel\nLIMIT = 5\n\n@kernel\ndef limit():\n    return LIMIT\n"
    )
    (tmp_path / "own_kernel.py").write_text(
        "from own_helpers import limit\nfrom swftools.kernel import kernel\n\n"
        "@kernel\ndef twice():\n    return 2 * limit()\n"
    )
    text = """
from swftools.kernel import watch_compiling
names = []
from own_kernel import twice
with watch_compiling(lambda count, name: names.append(name)):
    print(twice(), *names)
"""
    assert run(tmp_path, text, PYTHONPATH=OURS) == "10 own_kernel.twice own_helpers.limit"
    assert run(tmp_path, text, PYTHONPATH=OURS) == "10"
    helpers = tmp_path / "own_helpers.py"
    helpers.write_text(helpers.read_text().replace("LIMIT = 5", "LIMIT = 6"))
    assert run(tmp_path, text, PYTHONPATH=OURS) == "12 own_kernel.twice own_helpers.limit"


@needs_jit
def test_functions_of_a_prompt_are_not_kept(tmp_path: Path) -> None:
    """Another process could not find them."""
    source = tmp_path / "script.py"
    source.write_text("from swftools.kernel import kernel\n\n@kernel\ndef one():\n    return 1\n\nprint(one())\n")
    run(
        tmp_path,
        f"import runpy; runpy.run_path({str(source)!r}, run_name='__main__')",
        PYTHONPATH=OURS,
    )
    assert kept(tmp_path) == []


def test_the_stamp_of_every_kernel_file() -> None:
    """Each file with kernels is among those that are hashed, and its text counts."""
    using = {path for path in sources.PACKAGE.rglob("*.py") if "import kernel" in path.read_text()}
    assert len(using) > 20
    assert using <= set(sources.kernel_files())
    assert len(set(sources.kernel_files().values())) == len(sources.kernel_files())


def names_in(code: object) -> set[str]:
    """Return the names that a function's code looks up, and that of functions within."""
    inner = [names_in(constant) for constant in code.co_consts if hasattr(constant, "co_names")]  # type: ignore[attr-defined]
    return set(code.co_names).union(*inner)  # type: ignore[attr-defined]


def is_ours(function: Callable[..., object]) -> bool:
    """Whether a function is of swftools."""
    return function.__module__.startswith("swftools.")


def module_of(module: str, name: str) -> str:
    """Return where a name is from that is imported of a module, or the module that it is."""
    return f"{module}.{name}" if f"{module}.{name}" in sys.modules else module


def test_kernels_use_kernel_files_only() -> None:
    """A constant from a file without kernels would be compiled in, and its change not seen."""
    modules = set(sources.kernel_modules())
    foreign = []
    for name in modules | {one.decide.__module__ for one in list_policies().values() if is_ours(one.decide)}:
        __import__(name)
        module = sys.modules[name]
        tree = ast.parse(Path(str(module.__file__)).read_text())
        taken = {
            alias.asname or alias.name: module_of(node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("swftools")
            for alias in node.names
        }
        functions = [value.py_func for value in vars(module).values() if isinstance(value, Kernel)]
        functions += [one.decide for one in list_policies().values() if one.decide.__module__ == name]
        functions += [simulate_events] if name == simulate_events.__module__ else []
        for function in functions:
            if function.__module__ == name:
                used = names_in(function.__code__) & set(taken)
                foreign += [(name, function.__name__, one) for one in used if taken[one] not in modules]
    assert sorted(foreign) == []


def add(x, y):  # type: ignore[no-untyped-def]
    """Return the sum."""
    return x + y


add_kernel = kernel(add)


def test_a_kernel_is_its_source_and_more() -> None:
    """Name, words and source stay; it runs both ways."""
    assert add_kernel(1, 2) == add_kernel.py_func(1, 2) == 3
    assert add_kernel.py_func is add
    assert (add_kernel.__name__, add_kernel.__doc__) == ("add", "Return the sum.")
    assert repr(add_kernel).startswith("<kernel ")


def test_a_kernel_is_pickled_by_name() -> None:
    """So that it can be sent to another process."""
    from swftools.keyed_random import next_uniform  # noqa: PLC0415

    assert pickle.loads(pickle.dumps(next_uniform)) is next_uniform


@needs_jit
def test_a_signature_is_the_only_one() -> None:
    """Other types are refused, rather than compiled."""
    halves = kernel("float64(float64)")(lambda x: x / 2)
    assert halves(3.0) == 1.5
    with pytest.raises(TypeError, match="No matching definition"):
        halves("three")


@needs_jit
def test_constants_are_not_compiled_one_by_one() -> None:
    """A kernel that others call with constants is compiled for their type."""
    plus = kernel(add)
    several = kernel(lambda x: plus(x, 1) + plus(x, 2) + plus(x, 3))
    assert several(1) == 9
    assert len(plus.compiled.overloads) == 1


def test_interpreted_everywhere(tmp_path: Path) -> None:
    """With NUMBA_DISABLE_JIT all run as Python, and nothing is kept."""
    text = """
from swftools.simulator.machine.waiting_queue import empty_queue, next_fitting_place
queue = empty_queue(3, 4)
print(next_fitting_place(queue, 0, 9.0, 9.0, 9.0), next_fitting_place.compiled is next_fitting_place.py_func)
"""
    assert run(tmp_path, text, NUMBA_DISABLE_JIT="1", PYTHONPATH=OURS) == "-1 True"


def test_importing_leaves_numba_alone(tmp_path: Path) -> None:
    """Until the first kernel is called."""
    text = """
import sys
import swftools
swftools.read_swf, swftools.simulate, swftools.generate_utility, swftools.models
print("numba" in sys.modules)
"""
    assert run(tmp_path, text, PYTHONPATH=OURS) == "False"


@needs_jit
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """What cannot be kept is used all the same, and the log says why."""
    from numba import config  # noqa: PLC0415
    from numba.core.caching import IndexDataCacheFile  # noqa: PLC0415

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    caplog.set_level("INFO", "swftools")
    assert kernel(add)(1, 2) == 3
    assert kept(tmp_path) == []
    assert "No space left on device" in caplog.text
