# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of PBS, as Slurm's ``sbatch`` translates their lines of ``#PBS``.

It is not what PBS reads (``pbs`` is): a plain number is of minutes, memory is of each node, processors of a chunk count
only with ``mpiprocs``, and GPUs by ``ngpus`` are passed over.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from swftools.job_scripts import values
from swftools.job_scripts.getopt import options_of, words_of_shell
from swftools.job_scripts.given import Given
from swftools.job_scripts.pbs_options import FOR_SLURM
from swftools.job_scripts.source import Source

_LETTERS = frozenset(string.ascii_letters + "_")
"""Of the name of a resource."""

_ENDS = {
    **dict.fromkeys(["nodes", "walltime", "cput"], re.compile(",")),
    **dict.fromkeys(["ncpus", "mpiprocs"], re.compile(":")),
}
"""What ends a value, where a comma or colon does not: ``ncpus`` goes on behind a comma, so that it is no number."""

_END = re.compile("[,:]")

_GPUS = ("gpus", "naccelerators")


def options_of_pbs(source: Source) -> tuple[dict[str, Given], list[str]]:
    """Return the options of ``sbatch`` that the lines mean, and what PBS would read otherwise.

    The lines count in the whole script, behind commands too.
    """
    options: dict[str, Given] = {}
    notes: list[str] = []
    for line in source.directives("#PBS", to_the_end=True):
        words = words_of_shell("#PBS", line.text, line.where, has_comments=True)
        for name, given in options_of(words, FOR_SLURM, line.where):
            if name == "l":
                notes += _add_resources(options, given)
            elif name in ("partition", "array"):
                options[name] = given
    return options, notes


def _add_resources(options: dict[str, Given], given: Given) -> Iterator[str]:
    """Add what a list of resources means; yield what is passed over."""
    mincpus = 0
    for key, value in _pairs(given.value):
        here = Given(value, given.where)
        if key == "nodes":
            _add_nodes(options, here)
        elif key in ("walltime", "cput"):
            options["time"] = here
            if value.isdecimal():
                yield str(here.refused(f"Slurm reads {key}={value} as minutes, PBS as seconds", "write 1:00:00"))
        elif key == "ncpus":
            mincpus = values.count(key, here)
        elif key == "mpiprocs":
            options["ntasks-per-node"] = here
            if mincpus:
                options["cpus-per-task"] = Given(str(max(mincpus // values.count(key, here), 1)), given.where)
        elif key in ("ngpus", "procs"):
            better = {"ngpus": "--gpus-per-node", "procs": "--ntasks"}[key]
            yield str(here.refused(f"Slurm passes over {key}={value}", f"add {better}={value}"))
        else:
            _add_simple(options, key, here)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield names of resources with their values; what belongs to none is passed over."""
    at = 0
    while (equals := text.find("=", at)) >= 0:
        begin = equals
        while begin > at and text[begin - 1] in _LETTERS:
            begin -= 1
        at = equals + 1
        if begin < equals:
            key = text[begin:equals]
            found = _ENDS.get(key, _END).search(text, at)
            end = len(text) if found is None else found.start()
            yield key, text[at:end]
            at = end


def _add_simple(options: dict[str, Given], key: str, here: Given) -> None:
    """Add what a resource means that means the same wherever it stands."""
    if key == "select":
        options["nodes"] = here
    elif key == "mem":
        options["mem"] = here
    elif key in _GPUS or (key == "accelerator" and here.value.lower() == "true"):
        options["gres"] = Given(f"gpu:{1 if key == 'accelerator' else here.value}", here.where)


def _add_nodes(options: dict[str, Given], given: Given) -> None:
    """Add what ``nodes=2:ppn=4`` means, or ``nodes=n1:ppn=2+n2``."""
    number, names, per_node = 0, [], 0
    for part in given.value.split("+"):
        first, *others = part.split(":")
        if first.isdecimal():
            number += values.short_number("nodes", Given(first, given.where))
        else:
            names.append(first)
        for other in others:
            key, _, value = other.partition("=")
            if key == "ppn":
                per_node += values.short_number("ppn", Given(value, given.where)) if value.isdecimal() else 0
            elif key == "gpus":
                options["gres"] = Given(f"gpu:{value}", given.where)
            else:
                raise given.refused(f"Slurm takes {other!r} for the name of a node", "leave it out of nodes=")
    if number:
        options["nodes"] = Given(str(number), given.where)
    if names:
        options["nodelist"] = Given(",".join(names), given.where)
    if per_node:
        options["ntasks"] = Given(str(per_node * (number or 1)), given.where)
