# SPDX-License-Identifier: BSD-3-Clause
"""What the commands that submitted jobs ask of Slurm: the column ``submit_line``, which sacct has since 21.08.

The options are read as ``swftools.formats.slurm.submit_line`` tells them apart, and mean what
``swftools.job_scripts`` says. Lines ``#SBATCH`` of scripts are not in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools.errors import JobScriptError
from swftools.formats.slurm.submit_line import ends_options, needs_value
from swftools.job_scripts import values
from swftools.job_scripts.given import COMMAND_LINE, Given
from swftools.job_scripts.sbatch_options import GRAMMAR
from swftools.job_scripts.shape import component_of
from swftools.kernel import BoolArray, FloatArray, IntArray

_SIZES = (
    "cores-per-socket cpus-per-gpu cpus-per-task exclusive gpus gpus-per-node gpus-per-socket gpus-per-task gres mem "
    "mem-per-cpu mem-per-gpu nodes ntasks ntasks-per-gpu ntasks-per-node overcommit sockets-per-node threads-per-core"
)
_CPUS = "cpus-per-task gpus-per-task nodes ntasks ntasks-per-gpu ntasks-per-node overcommit"
_WORDS = "account array constraint exclude hold nice nodelist partition qos"
_OTHERS = (
    "bb bbf cluster-constraint contiguous core-spec deadline distribution extra-node-info gres-flags hint licenses "
    "mincpus no-requeue nodefile ntasks-per-core ntasks-per-socket oversubscribe prefer priority reservation segment "
    "spread-job spread-segments switches thread-spec time-min tmp tres-per-task use-min-nodes"
)
_OF_SIZE = frozenset(_SIZES.split())
"""Options that say how much a job asks for."""

_SAY_SIZE = frozenset(_CPUS.split())
"""Options of which one at least stands where a line says how many CPUs the job asks for."""

_NAMES = frozenset(_WORDS.split())
"""Options that say where, for whom and when."""

NOT_FOLLOWED = frozenset(_OTHERS.split())
"""Options that decide when a job starts or where, and are not simulated."""

_READ = _OF_SIZE | _NAMES | NOT_FOLLOWED
_NICE = 100.0
"""What ``--nice`` is without a value."""

Said = tuple[tuple[str, str], ...]
"""Options with their values, by name."""


class Line(NamedTuple):
    """What a line asks for; 0 or an empty text where it does not say it, but for what is counted from 1 on.

    Parameters
    ----------
    cpus, cpus_per_task, nodes : int
        As Slurm counts them at submission: ReqCPUS and ReqNodes of sacct.
    min_nodes, max_nodes, wanted_nodes, tasks_per_node : int
        As ``SlurmJobs`` has them.
    memory_per_cpu, memory_per_node : int
        MB.
    has_all_memory : bool
        It asks for all memory of its nodes, as ``--mem=0`` does.
    gpus_per_node, gpus : int
        Of each node, or in all.
    is_exclusive, is_held : bool
        ``--exclusive`` without a value; ``--hold``.
    says_size, says_nodes : bool
        Whether it says how many CPUs it is, and ``--nodes``.
    nice : float
        What is taken from its priority.
    array_limit : int
        Most tasks of its array at once.
    partition, qos, account, constraint, gpu_type, nodelist, exclude : str
        Names, as they are written.
    not_followed : tuple of str
        Options that are not simulated.
    """

    cpus: int
    cpus_per_task: int
    nodes: int
    min_nodes: int
    max_nodes: int
    wanted_nodes: int
    tasks_per_node: int
    memory_per_cpu: int
    memory_per_node: int
    has_all_memory: bool
    gpus_per_node: int
    gpus: int
    is_exclusive: bool
    is_held: bool
    says_size: bool
    says_nodes: bool
    nice: float
    array_limit: int
    partition: str
    qos: str
    account: str
    constraint: str
    gpu_type: str
    nodelist: str
    exclude: str
    not_followed: tuple[str, ...]


class Lines:
    """The lines of a trace.

    Parameters
    ----------
    jobs : pandas.DataFrame
        Of a trace; it need not have lines.
    """

    def __init__(self, jobs: pd.DataFrame) -> None:
        self._lines: list[Line] = []
        self._row = np.full(len(jobs), -1, np.int64)
        self.is_odd: BoolArray = np.zeros(len(jobs), bool)
        """Which jobs have a line that Slurm would not take."""
        if "submit_line" not in jobs or not len(jobs):
            return
        of_row, texts = pd.factorize(jobs["submit_line"])
        places: dict[Said, int] = {}
        said = [places.setdefault(said_in(str(text)), len(places)) for text in texts]
        read = [_read(each) for each in places]
        place = np.cumsum([line is not None for line in read]) - 1
        place[[line is None for line in read]] = -1
        of_text = np.append(np.array(said, np.int64), -1)[of_row]
        self._row = np.append(place, -1)[of_text]
        self._lines = [line for line in read if line is not None]
        self.is_odd = (of_text >= 0) & (self._row < 0)

    def __len__(self) -> int:
        """Return how many different requests there are."""
        return len(self._lines)

    @property
    def is_there(self) -> BoolArray:
        """Of which jobs there is a line that can be read."""
        return self._row >= 0

    def numbers(self, name: str) -> FloatArray:
        """Return a number of each job's line; NaN where there is no line."""
        return np.array([*(getattr(line, name) for line in self._lines), np.nan], np.float64)[self._row]

    def truths(self, name: str) -> BoolArray:
        """Return what holds of each job's line; false where there is no line."""
        return np.array([*(getattr(line, name) for line in self._lines), False], bool)[self._row]

    def texts(self, name: str) -> tuple[IntArray, list[str]]:
        """Return the place of a text of each job's line in a list of them, -1 for none, and that list."""
        found: dict[str, int] = {"": -1}
        of_line = [found.setdefault(getattr(line, name), len(found) - 1) for line in self._lines]
        return np.array([*of_line, -1], np.int64)[self._row], list(found)[1:]

    def options_not_followed(self) -> Iterator[tuple[str, BoolArray]]:
        """Yield options that are not simulated, and which jobs have each."""
        for name in sorted({name for line in self._lines for name in line.not_followed}):
            has_it = np.array([*(name in line.not_followed for line in self._lines), False], bool)
            yield name, has_it[self._row]


def said_in(line: str) -> Said:
    """Return the options of a command that count here, each once: the last one of a name.

    Examples
    --------
    >>> said_in("sbatch -J j1 -p batch,short -n 34 -N1-4 --wrap sleep 50")
    (('nodes', '1-4'), ('ntasks', '34'), ('partition', 'batch,short'))
    """
    found: dict[str, str] = {}
    words = iter(line.split()[1:])
    for word in words:
        name, value, needs_more = _meaning_of(word)
        if not name:
            break
        if needs_more:
            value = next(words, "")
        if name in _READ:
            found[name] = value.strip("'\"")
    return tuple(sorted(found.items()))


@lru_cache(maxsize=1 << 16)
def _meaning_of(word: str) -> tuple[str, str, bool]:
    """Return the option that a word is, its value, and whether that is the next word; no name: options end there.

    The same words stand in most lines of a log, so each is looked at once.
    """
    if ends_options(word):
        return "", "", False
    if word.startswith("--"):
        said, _, value = word[2:].partition("=")
        name = _long_name(said)
    else:
        name, value = _short_name(word[1:2]), word[2:]
    return name or word, value, needs_value(word)


def _long_name(said: str) -> str:
    """Return the name of a long option, which may be cut short; what is said where none is meant."""
    if said in GRAMMAR.takes:
        return GRAMMAR.long_of.get(said, said)
    meant = {GRAMMAR.long_of.get(name, name) for name in GRAMMAR.takes if len(name) > 1 and name.startswith(said)}
    return meant.pop() if len(meant) == 1 and said else said


def _short_name(letter: str) -> str:
    return GRAMMAR.long_of.get(letter, "") if letter in GRAMMAR.takes else ""


def _read(said: Said) -> Line | None:
    """Return what options ask for; None where Slurm would not take them."""
    options = {name: Given(value, COMMAND_LINE) for name, value in said}
    try:
        return _line_of(options)
    except JobScriptError:
        return None


def _line_of(options: dict[str, Given]) -> Line:
    """Return what options ask for.

    Raises
    ------
    JobScriptError
        Slurm would not take them.
    """

    def text(name: str) -> str:
        return options[name].value if name in options else ""

    def number(name: str, read: Callable[[str, Given], int]) -> int:
        return read(name, options[name]) if name in options else 0

    size = {name: given for name, given in options.items() if name in _OF_SIZE}
    if "nodelist" in options and "/" not in text("nodelist"):  # with a slash it is a file
        size["nodelist"] = options["nodelist"]
    component = component_of(size)
    cpus, per_task = component.processors, component.cpus_per_task
    per_task = per_task if cpus % per_task == 0 else 1
    tasks, tasks_per_node = cpus // per_task, number("ntasks-per-node", values.count)
    least, most = component.nodes, component.most_nodes or 0
    if tasks_per_node and not most:
        least = max(least, -(-tasks // tasks_per_node))
    if most and tasks > most * tasks_per_node:  # Slurm warns, and does without it
        tasks_per_node = 0
    gres = values.gres_gpus(options["gres"]) if "gres" in options else 0
    gpus_per_node = number("gpus-per-node", values.gpus) or gres
    memory = {name: number(name, values.memory) for name in ("mem", "mem-per-cpu", "mem-per-gpu")}
    of_gpus = memory["mem-per-gpu"] * (gpus_per_node or -(-component.gpus // least))
    return Line(
        cpus=cpus,
        cpus_per_task=per_task,
        nodes=component.nodes,
        min_nodes=least,
        max_nodes=most,
        wanted_nodes=max(min(most or least, tasks), least),
        tasks_per_node=tasks_per_node,
        memory_per_cpu=memory["mem-per-cpu"],
        memory_per_node=memory["mem"] or of_gpus,
        has_all_memory=any(name in options and not amount for name, amount in memory.items()),
        gpus_per_node=gpus_per_node,
        gpus=0 if gpus_per_node else component.gpus,
        is_exclusive=component.is_exclusive,
        is_held="hold" in options,
        says_size=not _SAY_SIZE.isdisjoint(options),
        says_nodes="nodes" in options,
        nice=_nice(text("nice")) if "nice" in options else 0.0,
        array_limit=_at_once(text("array")),
        partition=text("partition"),
        qos=text("qos"),
        account=text("account"),
        constraint=text("constraint"),
        gpu_type=_gpu_type(options),
        nodelist=text("nodelist"),
        exclude=text("exclude"),
        not_followed=(
            *(name for name in options if name in NOT_FOLLOWED),
            *([f"exclusive={text('exclusive')}"] if text("exclusive") else []),
        ),
    )


def _nice(text: str) -> float:
    """Return what ``--nice`` takes from a priority; Slurm refuses what is no number."""
    try:
        return float(int(text)) if text else _NICE
    except ValueError as error:
        raise Given(text, COMMAND_LINE).refused(f"--nice={text} is no whole number", "mend it") from error


def _at_once(text: str) -> int:
    """Return how many tasks of an array may run at once: what stands behind ``%``."""
    most = text.partition("%")[2]
    return values.short_number("--array", Given(most, COMMAND_LINE)) if most else 0


def _gpu_type(options: dict[str, Given]) -> str:
    """Return the type of GPU of ``--gres=gpu:a100:2``, ``--gpus=a100:2`` and the like; of several none."""
    found = set()
    for name in ("gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket"):
        for part in options[name].value.split(",") if name in options else ():
            words = part.removeprefix("gres:").split(":")
            if name == "gres" and words[0] != "gpu":
                continue
            kind = [word for word in words[name == "gres" :] if word and not word[0].isdecimal()]
            found.update(kind[:1])
    return found.pop() if len(found) == 1 else ""
