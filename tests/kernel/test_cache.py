# SPDX-License-Identifier: BSD-3-Clause
"""The cache of compiled kernels: keyed to what each is made of and calls, of bounded size, and never in the way."""

from __future__ import annotations

import errno
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from swftools.kernel import kernel, sources
from tests.forked import NUMBA

KEPT = 4
"""Forms of a function that are kept for one signature."""

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


def run(folder: Path, text: str = FIRST_WAITING, is_new: bool = False, **variables: str) -> str:
    """Run Python in a process that imports from a folder; return what it prints.

    The process has loaded numba and no more, or, if it is new, nothing.
    """
    environment = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    command = [sys.executable, "-c", text]
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", **variables}
    if is_new:
        done = subprocess.run(command, cwd=folder, env=environment, check=True, text=True, capture_output=True)
    else:
        done = NUMBA.run(command, folder, environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def kept(folder: Path, suffix: str = "nbi") -> list[str]:
    """Return the names of the cache's files."""
    return sorted(path.name for path in folder.rglob(f"*.{suffix}"))


@needs_jit
def test_a_change_in_another_file_is_seen(copy: Path) -> None:
    """A constant that a called kernel of another file uses: the caller is compiled anew; the cache does not grow."""
    assert run(copy) == "-1 first_waiting first_place next_fitting_place"
    assert run(copy) == "-1"
    files = kept(copy)
    source = copy / "swftools/simulator/machine/waiting_queue.py"
    text = source.read_text()
    assert "NOBODY = -1\n" in text
    for value in range(-7, -7 - KEPT, -1):
        moved = text.replace("NOBODY = -1\n", f"NOBODY = {value}\n")
        source.write_text(f"# Line {value} moves every function.\n{moved}")
        assert run(copy) == f"{value} first_waiting first_place next_fitting_place"
    assert run(copy) == str(value)
    assert kept(copy) == files
    assert len(kept(copy, "nbc")) == KEPT * len(files)
    source.write_text(text.replace("NOBODY = -1\n", "NOBODY = -7\n"))
    assert run(copy) == "-7"  # one of the newest
    source.write_text(text)
    assert run(copy) == "-1 first_waiting first_place next_fitting_place"


@needs_jit
def test_a_change_elsewhere_compiles_nothing(copy: Path) -> None:
    """Of a kernel that is not called, of a comment, or of where a function stands in its file."""
    assert run(copy) == "-1 first_waiting first_place next_fitting_place"
    own, other = (copy / f"swftools/simulator/machine/{name}.py" for name in ("waiting_queue", "verbs"))
    own.write_text("# A line more, which moves every function.\n" + own.read_text())
    text = other.read_text()
    assert "STOPPED_HERE = -2\n" in text
    other.write_text(text.replace("STOPPED_HERE = -2\n", "STOPPED_HERE = -3\n"))
    assert run(copy) == "-1"


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
    """What was imported before is run, and kept as that, not as if it were what the file says now."""
    source = copy / "swftools/simulator/machine/waiting_queue.py"
    changing = FIRST_WAITING.replace(
        "names = []",
        f"names = []\nfrom pathlib import Path\nfile = Path({str(source)!r})\n"
        "file.write_text(file.read_text().replace('NOBODY = -1', 'NOBODY = -7'))",
    )
    assert run(copy, changing) == "-1 first_waiting first_place next_fitting_place"
    assert run(copy) == "-7 first_waiting first_place next_fitting_place"
    assert run(copy) == "-7"
    source.write_text(source.read_text().replace("NOBODY = -7", "NOBODY = -1"))
    assert run(copy) == "-1"


@needs_jit
@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(copy: Path, tmp_path: Path) -> None:
    """The user's cache directory is taken, as in an installation of the system."""
    for folder in [copy / "swftools", *(path for path in (copy / "swftools").rglob("*") if path.is_dir())]:
        folder.chmod(0o555)
    assert run(copy, HOME=str(tmp_path)) == "-1 first_waiting first_place next_fitting_place"
    assert run(copy, HOME=str(tmp_path)) == "-1"


@needs_jit
def test_the_users_directory_is_taken(copy: Path) -> None:
    """Where no folder can be made beside the source (a file has its name), the cache is in the user's directory."""
    for folder in [copy / "swftools", *(path for path in (copy / "swftools").rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("a file")
    assert run(copy, XDG_CACHE_HOME=str(copy / "cache")) == "-1 first_waiting first_place next_fitting_place"
    assert run(copy, XDG_CACHE_HOME=str(copy / "cache")) == "-1"
    assert len(kept(copy / "cache")) == 3


@needs_jit
def test_nothing_can_be_written(copy: Path) -> None:
    """Then kernels are compiled in each process."""
    for folder in [copy / "swftools", *(path for path in (copy / "swftools").rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("a file")
    for _ in range(2):
        assert run(copy, XDG_CACHE_HOME="/dev/null/cache") == "-1 first_waiting first_place next_fitting_place"


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
    assert run(copy) == "-1 first_waiting first_place next_fitting_place"
    assert run(copy) == "-1"


@needs_jit
def test_a_policy_in_a_file_of_ones_own(tmp_path: Path) -> None:
    """It is keyed to what it says, and to what compiled functions of other files say that it calls."""
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


def test_the_modules_that_have_kernels() -> None:
    """All that import the decorator are among those that are imported to compile all."""
    using = {
        path
        for path in sources.PACKAGE.rglob("*.py")
        if re.search(r"from swftools\.kernel import .*\bkernel\b", path.read_text())
    }
    assert len(using) > 20
    names = {".".join(path.relative_to(sources.PACKAGE.parent).with_suffix("").parts) for path in using}
    assert {name.removesuffix(".__init__") for name in names} <= set(sources.kernel_modules())


@needs_jit
def test_code_that_compiles_otherwise(copy: Path) -> None:
    """Another decorator, or other code of the cache's own, is another key for all."""
    assert run(copy) == "-1 first_waiting first_place next_fitting_place"
    decorator = copy / "swftools/kernel/decorator.py"
    decorator.write_text(decorator.read_text() + "\n")
    assert run(copy) == "-1 first_waiting first_place next_fitting_place"


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
    assert len(plus.inner.overloads) == 1


def test_interpreted_everywhere(tmp_path: Path) -> None:
    """With NUMBA_DISABLE_JIT all run as Python, and nothing is kept."""
    text = """
from swftools.simulator.machine.waiting_queue import empty_queue, next_fitting_place
queue = empty_queue(3, 4)
print(next_fitting_place(queue, 0, 9.0, 9.0, 9.0), next_fitting_place.compiled is next_fitting_place.py_func)
"""
    assert run(tmp_path, text, is_new=True, NUMBA_DISABLE_JIT="1", PYTHONPATH=OURS) == "-1 True"


def test_importing_leaves_numba_and_matplotlib_alone(tmp_path: Path) -> None:
    """Until the first kernel is called, and the first picture is drawn."""
    text = """
import sys
import swftools
swftools.read_swf, swftools.simulate, swftools.generate_utility, swftools.models, swftools.Trace, swftools.plots
print([name for name in ("numba", "matplotlib") if name in sys.modules])
"""
    assert run(tmp_path, text, is_new=True, PYTHONPATH=OURS) == "[]"


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


MINE = """
import numpy as np
from swftools.kernel import kernel

@kernel(allocates=False)
def third(values, place):
    return values[place] / 3.0

@kernel
def hashed(word):
    return hash(word + word)
"""
CALLS_THIRD = """
import sys
import numpy as np
from mine import third
print(third(np.arange(9.0), 6), "numba.np.arrayobj" in sys.modules)
"""
CALLS_HASHED = 'from mine import hashed; print(hashed("word") == hash("wordword"))'


@needs_jit
def test_what_is_loaded_needs_nothing_of_what_compiles(tmp_path: Path) -> None:
    """Not what numba knows of numpy and Python: neither to be loaded nor to be called."""
    (tmp_path / "mine.py").write_text(MINE)
    assert run(tmp_path, CALLS_THIRD, is_new=True, PYTHONPATH=OURS) == "2.0 True"
    assert run(tmp_path, CALLS_THIRD, is_new=True, PYTHONPATH=OURS) == "2.0 False"


@needs_jit
def test_what_hashes_text_finds_how(tmp_path: Path) -> None:
    """It uses a number that numba makes where it loads what it knows of hashes: each process has its own."""
    (tmp_path / "mine.py").write_text(MINE)
    for seed in ("1", "2"):
        assert run(tmp_path, CALLS_HASHED, is_new=True, PYTHONPATH=OURS, PYTHONHASHSEED=seed) == "True"
