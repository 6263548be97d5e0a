# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of LSF, as Slurm's ``sbatch`` translates their lines of ``#BSUB``.

It knows few options and refuses others. It reads ``-W`` as its own times: ``1:30`` is a minute and a half, where LSF
reads an hour and a half.
"""

from __future__ import annotations

from swftools.job_scripts import values
from swftools.job_scripts.getopt import NEEDED, NONE, Grammar, options_of, words_of_shell
from swftools.job_scripts.given import Given
from swftools.job_scripts.source import Source

GRAMMAR = Grammar(
    "sbatch, where it translates #BSUB,",
    {**dict.fromkeys(["c", "cwd", "e", "J", "m", "M", "n", "o", "q", "W"], NEEDED), "x": NONE},
    {"q": "partition", "W": "time", "x": "exclusive"},
)


def options_of_bsub(source: Source) -> tuple[dict[str, Given], list[str]] | None:
    """Return the options of ``sbatch`` that the lines mean, and what LSF would read otherwise; None without lines.

    The lines count in the whole script, behind commands too.
    """
    lines = list(source.directives("#BSUB", to_the_end=True))
    options: dict[str, Given] = {}
    notes: list[str] = []
    for line in lines:
        words = words_of_shell("#BSUB", line.text, line.where, has_comments=True)
        words = ["--cwd" if word == "-cwd" else word for word in words]
        for name, given in options_of(words, GRAMMAR, line.where):
            _add(options, name, given)
            if name == "time" and ":" in given.value:
                what = f"Slurm reads -W {given.value} as minutes:seconds, LSF as hours:minutes"
                notes.append(str(given.refused(what, "write minutes")))
    return (options, notes) if lines else None


def _add(options: dict[str, Given], name: str, given: Given) -> None:
    """Add what an option means."""
    if name == "n":
        options["ntasks"] = Given(given.value.split(",")[-1], given.where)
    elif name == "M":
        in_kib = Given(f"{given.value}K" if given.value.isdecimal() else given.value, given.where)
        values.memory("mem-per-cpu", in_kib)
        options["mem-per-cpu"] = in_kib
    elif name == "m":
        options["nodelist"] = Given(",".join(given.value.split()), given.where)
    elif name in ("partition", "time", "exclusive"):
        options[name] = given
