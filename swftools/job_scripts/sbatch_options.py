# SPDX-License-Identifier: BSD-3-Clause
"""The options of ``sbatch``, the variables that stand for some of them, and how a line is cut into words."""

from __future__ import annotations

import re

from swftools.job_scripts.getopt import NEEDED, NONE, OPTIONAL, Grammar
from swftools.job_scripts.given import refused

_WITHOUT = (
    "contiguous help hold ignore-pbs no-requeue overcommit oversubscribe parsable quiet reboot requeue spread-job "
    "test-only usage use-min-nodes verbose version wait"
)
_WITH = (
    "account acctg-freq array batch bb bbf begin chdir cluster cluster-constraint clusters comment constraint "
    "container context core-spec cores-per-socket cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency "
    "distribution error exclude export export-file extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node "
    "gpus-per-socket gpus-per-task gres gres-flags hint input job-name licenses mail-type mail-user mcs-label mem "
    "mem-bind mem-per-cpu mem-per-gpu mincpus network nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu "
    "ntasks-per-node ntasks-per-socket ntasks-per-tres open-mode output partition power prefer priority profile qos "
    "reservation signal sockets-per-node switches tasks-per-node thread-spec threads-per-core time time-min tmp uid "
    "wait-all-nodes wckey wrap"
)
_LATER = "container-id extra oom-kill-step resv-ports segment tres-bind tres-per-task"
"""Options of Slurm after 22.05, which take a value."""
_LATER_WITHOUT = "autocomplete consolidate-segments external spread-segments stepmgr"
_MAY_HAVE = "exclusive get-user-env kill-on-invalid-dep nice no-kill propagate"
_SHORT = (
    "a:array A:account b:begin B:extra-node-info c:cpus-per-task C:constraint d:dependency D:chdir e:error F:nodefile "
    "G:gpus h:help H:hold i:input J:job-name k:no-kill L:licenses m:distribution M:clusters n:ntasks N:nodes o:output "
    "O:overcommit p:partition q:qos Q:quiet s:oversubscribe S:core-spec t:time v:verbose V:version w:nodelist W:wait "
    "x:exclude"
)
_LETTERS = dict(pair.split(":") for pair in _SHORT.split())

_TAKES = {
    **dict.fromkeys(f"{_WITHOUT} {_LATER_WITHOUT}".split(), NONE),
    **dict.fromkeys(f"{_WITH} {_LATER}".split(), NEEDED),
    **dict.fromkeys(_MAY_HAVE.split(), OPTIONAL),
}

GRAMMAR = Grammar(
    "sbatch",
    {**_TAKES, **{letter: _TAKES[name] for letter, name in _LETTERS.items()}},
    {**_LETTERS, "tasks-per-node": "ntasks-per-node", "ntasks-per-tres": "ntasks-per-gpu", "cluster": "clusters"},
)
"""Of Slurm 22.05, and what came later."""

VARIABLES = {
    "SBATCH_ARRAY_INX": "array",
    "SBATCH_CPUS_PER_GPU": "cpus-per-gpu",
    "SBATCH_EXCLUSIVE": "exclusive",
    "SBATCH_GPUS": "gpus",
    "SBATCH_GPUS_PER_NODE": "gpus-per-node",
    "SBATCH_GPUS_PER_SOCKET": "gpus-per-socket",
    "SBATCH_GPUS_PER_TASK": "gpus-per-task",
    "SBATCH_GRES": "gres",
    "SBATCH_IGNORE_PBS": "ignore-pbs",
    "SBATCH_MEM_PER_CPU": "mem-per-cpu",
    "SBATCH_MEM_PER_GPU": "mem-per-gpu",
    "SBATCH_MEM_PER_NODE": "mem",
    "SBATCH_OVERCOMMIT": "overcommit",
    "SBATCH_PARTITION": "partition",
    "SBATCH_THREADS_PER_CORE": "threads-per-core",
    "SBATCH_TIMELIMIT": "time",
}
"""Variables of the environment that change what is requested; there are others, which do not."""

_NO_SPACE = re.compile(r"\S")

SEPARATORS = ("hetjob", "packjob")
"""A line with one of these begins the next component of a heterogeneous job."""


def words_of(text: str, where: str) -> list[str] | None:
    """Return the words of a line behind ``#SBATCH``; None if it begins the next component.

    A ``#`` ends the line, in the midst of a word too. Quotes may stand anywhere in a word, and a backslash takes the
    next character as it is, but for a space. What follows ``hetjob`` is passed over.

    Raises
    ------
    JobScriptError
        A quote is not closed, or a word begins with a colon.
    """
    words: list[str] = []
    at = 0
    while found := _NO_SPACE.search(text, at):
        begin = found.start()
        if found[0] == "#":
            break
        if found[0] == ":":
            raise refused(where, f"a colon stands in{text.rstrip()}", "write 'hetjob' in a line of its own")
        at, word = _word(text, begin, where)
        if text[begin:at] in SEPARATORS:
            return words or None
        words += [word] if word else []
    return words


def _word(text: str, at: int, where: str) -> tuple[int, str]:
    """Return where the word ends that begins at a place of a text, and what it says."""
    quote, word = "", ""
    while at < len(text):
        character = text[at]
        if character == "\\" and at + 1 < len(text) and not text[at + 1].isspace():
            at += 1
            word += text[at]
        elif character in ("'", '"') and quote in ("", character):
            quote = "" if quote else character
        elif not quote and (character.isspace() or character == "#"):
            break
        else:
            word += character
        at += 1
    if quote:
        raise refused(where, f"a quote {quote} is not closed in {text.strip()}", "close it")
    return at, word
