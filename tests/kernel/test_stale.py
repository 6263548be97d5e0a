# SPDX-License-Identifier: BSD-3-Clause
"""What was compiled is found again for the same code only: what a file does not say of its functions counts too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from swftools.kernel import kernel, sources
from swftools.kernel.sources import fingerprint
from tests.forked import NUMBA

pytestmark = pytest.mark.skipif(not hasattr(kernel(lambda x: x).compiled, "overloads"), reason="NUMBA_DISABLE_JIT")

WATCHED = """
from swftools.kernel import watch_compiling
names = []
with watch_compiling(lambda count, name: names.append(name)):
    {text}
print(*names)
"""


def run(folder: Path, text: str, is_new: bool = False, **variables: str) -> list[str]:
    """Run Python in a folder; return the lines that it prints, the last of which names what was compiled.

    The process has loaded numba and no more, or, if it is new, nothing.
    """
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(sources.PACKAGE.parent), **variables}
    command = [sys.executable, "-c", WATCHED.format(text=text)]
    if is_new:
        done = subprocess.run(command, cwd=folder, env=environment, check=True, text=True, capture_output=True)
    else:
        done = NUMBA.run(command, folder, environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_functions_of_one_name_in_one_file(tmp_path: Path) -> None:
    """They differ by a constant, which is not in their bytecode: each is itself, and both are kept."""
    (tmp_path / "twins.py").write_text(
        "from swftools.kernel import kernel\n\n"
        "@kernel\ndef value():\n    return 1\n\nfirst = value\n\n"
        "@kernel\ndef value():\n    return 2\n"
    )
    text = "from twins import first, value; print(first(), value())"
    assert run(tmp_path, text) == ["1 2", "twins.value twins.value"]
    assert run(tmp_path, text) == ["1 2", ""]


@pytest.mark.parametrize(
    ("kernels", "plain", "other"),
    [
        ("from plain import LIMIT\n@kernel\ndef value():\n    return LIMIT\n", "LIMIT = 5", "LIMIT = 6"),
        ("import plain\n@kernel\ndef value():\n    return plain.LIMIT\n", "LIMIT = 5", "LIMIT = 6"),
        (
            "from plain import LIMITS\n@kernel\ndef value():\n    return LIMITS[1]\n",
            "LIMITS = (1, 5)",
            "LIMITS = (1, 6)",
        ),
        (
            "from plain import LIMITS\n@kernel\ndef value():\n    return LIMITS[1]\n",
            "import numpy\nLIMITS = numpy.array([1, 5])",
            "import numpy\nLIMITS = numpy.array([1, 6])",
        ),
        (
            "from plain import LIMIT\n@kernel\ndef inner():\n    return LIMIT\n"
            "@kernel\ndef value():\n    return inner()\n",
            "LIMIT = 5",
            "LIMIT = 6",
        ),
        (
            "import plain\n@kernel\ndef value():\n    return plain.limit()\n",
            "from swftools.kernel import kernel\n@kernel\ndef limit():\n    return 5",
            "from swftools.kernel import kernel\n@kernel\ndef limit():\n    return 6",
        ),
        (
            "from plain import Pair\n@kernel\ndef first(pair):\n    return pair.a\n"
            "def value():\n    return first(Pair(b=6, a=5) if Pair._fields[0] == 'a' else Pair(b=5, a=6))\n",
            "from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: int\n    b: int",
            "from typing import NamedTuple\nclass Pair(NamedTuple):\n    b: int\n    a: int",
        ),
    ],
    ids=["constant", "of-a-module", "tuple", "array", "of-a-called-kernel", "kernel-of-a-module", "named-tuple"],
)
def test_what_another_file_says(tmp_path: Path, kernels: str, plain: str, other: str) -> None:
    """A file that has no kernels, or is imported whole: its values are compiled in, and their change is seen."""
    (tmp_path / "own.py").write_text("from swftools.kernel import kernel\n" + kernels)
    (tmp_path / "plain.py").write_text(plain + "\n")
    text = "from own import value; print(value())"
    assert run(tmp_path, text)[0] == "5"
    assert run(tmp_path, text) == ["5", ""]
    (tmp_path / "plain.py").write_text(other + "\n")
    assert run(tmp_path, text)[0] == "6"
    assert run(tmp_path, text) == ["6", ""]


PLAIN_CLASSES = """
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np
from swftools.parameters import Parameters, number

@dataclass(frozen=True)
class Given(Parameters):
    a: float = number(1.0)
    b: float = number(20.0)

class Memory(NamedTuple):
    waits: np.ndarray
    more: np.ndarray

def memory(jobs, processors):
    return Memory(np.full(1, 300, np.int64), np.full(1, 4000, np.int64))
"""

POLICY = """
from plain import Given, memory
from swftools.simulator import first_waiting, fits, now, policy, start, wake_at

@policy("waits", parameters=Given, memory=memory)
def waits(machine, parameters, memory):
    due = parameters.a + 2.0 * parameters.b + memory.waits[0] + 2.0 * memory.more[0]
    if now(machine) < due:
        wake_at(machine, due)
    elif fits(machine, first_waiting(machine)):
        start(machine, first_waiting(machine))
"""

SIMULATED = (
    "import swftools, own; from swftools.simulator import simulate; "
    "trace = swftools.Trace.from_columns(machine_processors=1, job_number=[1], submit_time=[0], run_time=[1], "
    "requested_processors=[1]); print(simulate(trace, 'waits').jobs['start_time'][0])"
)


def test_parameters_and_memory_of_a_policy(tmp_path: Path) -> None:
    """Fields in another order, or of another type, in a file without kernels: never yesterday's code."""
    (tmp_path / "own.py").write_text(POLICY)
    plain = tmp_path / "plain.py"
    plain.write_text(PLAIN_CLASSES)
    assert run(tmp_path, SIMULATED)[0] == "8341.0"
    assert run(tmp_path, SIMULATED) == ["8341.0", ""]
    for old, new, start in [
        (
            "    a: float = number(1.0)\n    b: float = number(20.0)",
            "    b: float = number(20.0)\n    a: float = number(1.0)",
            8341,
        ),
        ("    waits: np.ndarray\n    more: np.ndarray", "    more: np.ndarray\n    waits: np.ndarray", 4641),
        ("np.full(1, 4000, np.int64))", "np.full(1, 4000.0))", 4641),
    ]:
        text = plain.read_text()
        assert old in text
        plain.write_text(text.replace(old, new))
        assert run(tmp_path, SIMULATED)[0] == f"{start}.0", new
    assert run(tmp_path, SIMULATED) == ["4641.0", ""]


BEYOND = """
import numpy as np
from swftools.kernel import kernel

@kernel
def inner(array):
    return array[4]

@kernel
def beyond(array):
    return inner(array) + 1.0

def ask(form):
    try:
        return getattr(beyond, form)(np.zeros(8)[:4])
    except IndexError as error:
        return error
"""


def test_checked_kernels_are_kept_apart(tmp_path: Path) -> None:
    """Each form is found again as itself, with the kernels that it calls, whichever was there first."""
    (tmp_path / "own.py").write_text(BEYOND)
    for form, told in [("compiled", "1.0"), ("checked", "index is out of bounds")]:
        text = f"from own import ask; print(ask('{form}'))"
        assert run(tmp_path, text) == [told, "own.beyond own.inner"]
    for form, told in [("compiled", "1.0"), ("checked", "index is out of bounds"), ("compiled", "1.0")]:
        text = f"from own import ask; print(ask('{form}'))"
        assert run(tmp_path, text) == [told, ""]


def limit() -> float:
    """Stand for a kernel."""
    return 5.0


IN_A_SET = """
def in_a_set(x):
    return x in {"one", "two", "three", "four", "five"}
"""
"""Has a set among its constants, whose order is another in each process."""


def test_the_fingerprint_is_the_same_in_each_process() -> None:
    """Whatever order a set has."""
    text = (
        f"scope = {{}}; exec({IN_A_SET!r}, scope); from swftools.kernel.sources import fingerprint; "
        "print(fingerprint(scope['in_a_set']), *next(iter(scope['in_a_set'].__code__.co_consts[1:])))"
    )
    told = [run(Path(sources.PACKAGE.parent), text, is_new=True, PYTHONHASHSEED=seed)[0].split() for seed in "12"]
    (first, *order), (second, *other) = told
    assert first == second
    assert order != other
    assert first != fingerprint(limit)


def worded(docstring: str, returned: str) -> str:
    """Return the fingerprint of a function with a docstring, which returns a text."""
    scope: dict[str, Any] = {}
    exec(f"def answer():\n    {docstring!r}\n    return {returned!r}", scope)
    return fingerprint(scope["answer"])


def test_other_words_of_a_docstring_change_nothing() -> None:
    """A docstring that is also what the function returns is no mere docstring."""
    assert worded("Say it.", "yes") == worded("Answer.", "yes") != worded("Say it.", "no")
    assert len({worded("yes", "yes"), worded("no", "no"), worded("yes", "no")}) == 3
