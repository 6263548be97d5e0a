# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of Slurm, as ``sbatch`` reads them.

The command line goes before variables, these before translated lines of ``#BSUB`` or ``#PBS``, these before lines of
``#SBATCH``. A component of a heterogeneous job begins anew, but for the time limit and the memory of a node, which it
has from the one before. The last part of the command line (``a : b``) is for all later components too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from swftools.job_scripts import values
from swftools.job_scripts.bsub import options_of_bsub
from swftools.job_scripts.getopt import options_of
from swftools.job_scripts.given import COMMAND_LINE, Given, Options
from swftools.job_scripts.pbs_for_slurm import options_of_pbs
from swftools.job_scripts.request import Component, JobRequest
from swftools.job_scripts.sbatch_options import GRAMMAR, VARIABLES, words_of
from swftools.job_scripts.shape import MEMORY, SOCKETS, component_of
from swftools.job_scripts.source import Source

INHERITED = ("time", "mem")
"""What a component has from the one before."""

NOT_COUNTED = {
    "cpus-per-gpu": "Slurm counts it when the job starts: write --cpus-per-task to have it counted here",
    "mincpus": "Slurm counts it when the job starts: write --cpus-per-task to have it counted here",
    "tres-per-task": "it is not read: write --gpus-per-task and --cpus-per-task",
}
"""Options that change what a job gets, and not what is requested as Slurm counts it at submission."""


def read_sbatch(source: Source, arguments: Sequence[str], environment: Mapping[str, str]) -> JobRequest:
    """Return what a script requests of Slurm.

    Parameters
    ----------
    source : Source
        The script.
    arguments : sequence of str
        Options of the command line.
    environment : mapping of str to str
        Variables.

    Raises
    ------
    JobScriptError
        ``sbatch``, or ``slurmctld`` for another reason than its machine, would refuse it.
    """
    command_line = [dict(_options(part, COMMAND_LINE)) for part in _split(arguments)]
    script = list(_of_script(source))
    named = {
        option: Given(environment[name], f"environment: {name}")
        for name, option in VARIABLES.items()
        if name in environment
    }
    translated: Options = {}
    notes: list[str] = []
    if not any("ignore-pbs" in each for each in (*command_line, *script, named)):
        translated, notes = options_of_bsub(source) or options_of_pbs(source)
    components: list[Component] = []
    inherited: dict[str, Given] = {}
    array: Given | None = None
    for k in range(max(len(script), len(command_line))):
        typed = command_line[min(k, len(command_line) - 1)]
        given = {**inherited, **(script[k] if k < len(script) else {}), **translated}
        options = {**given, **_without_other_memory(named, {*given, *typed}), **typed}
        components.append(component_of(options))
        notes += _notes(options)
        array = options.get("array", array)
        inherited = {name: options[name] for name in INHERITED if name in options}
    if array is not None and len(components) > 1:
        raise array.refused("a heterogeneous job has no array", "leave out --array")
    return JobRequest(tuple(components), 1 if array is None else values.array_size(array), tuple(dict.fromkeys(notes)))


def _split(arguments: Sequence[str]) -> Iterator[list[str]]:
    """Yield the parts of a command line between colons."""
    part: list[str] = []
    for word in arguments:
        if word == ":":
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _options(words: Sequence[str], where: str) -> Iterator[tuple[str, Given]]:
    """Yield options in order; sockets, cores and threads of ``-B 2:4`` as if each had its own, and ``*`` for none."""
    for name, given in options_of(words, GRAMMAR, where):
        yield name, given
        if name == "extra-node-info":
            parts = [*given.value.split(":"), "*", "*"]
            yield from ((each, Given(part, where)) for each, part in zip(SOCKETS, parts, strict=False))


def _of_script(source: Source) -> Iterator[dict[str, Given]]:
    """Yield the options of each component that a script has."""
    options: dict[str, Given] = {}
    for line in source.directives("#SBATCH"):
        words = words_of(line.text, line.where)
        if words is None:
            yield options
            options = {}
        else:
            options |= _options(words, line.where)
    yield options


def _without_other_memory(named: Options, others: set[str]) -> Options:
    """Return variables without those of memory, where something else says it in another way."""
    said = others & {*MEMORY}
    return {name: given for name, given in named.items() if name not in MEMORY or not said or name in said}


def _notes(options: Options) -> Iterator[str]:
    """Yield what of a component is not counted."""
    for name, why in NOT_COUNTED.items():
        if name in options:
            yield str(options[name].refused(f"--{name}={options[name].value} is not counted", why))
    for name in MEMORY:
        if name in options and values.memory(name, options[name]) == 0:
            given = options[name]
            yield str(given.refused(f"--{name}=0 is all memory of the nodes", "how much that is, Slurm alone knows"))
