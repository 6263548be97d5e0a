# SPDX-License-Identifier: BSD-3-Clause
"""What ``sacctmgr dump`` writes: a cluster, its accounts and users, a line each, below lines that name their parent.

Values may have colons in them, as in ``GrpTRES=gres/gpu:a100=4``, so keys are those that sacctmgr writes.
"""

from __future__ import annotations

import re

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.slurm_files.facts import SlurmFacts
from swftools.machines.slurm_files.limits import association_of
from swftools.machines.slurm_files.registry import slurm_file
from swftools.machines.slurm_parts import ROOT

_LINE = re.compile(r"(Cluster|Parent|Account|User|Project)\s+-\s+(.*)", re.IGNORECASE)
_NAME = re.compile(r"'([^']*)'|([^:\s]+)")
_KEY = re.compile(
    r":(Description|Organization|Organisation|Fairshare|Shares?|Priority|QOS|QosLevel|Default\w+|Def\w+|AdminLevel|Admin"
    r"|Coordinator|WCKeys?|Classification|Flags|Comment|Partition|Cluster|(?:Grp|Max|Min)\w+)\s*=",
    re.IGNORECASE,
)


def _recognise(text: str) -> Fit:
    is_there = any(_LINE.match(line) for line in text.splitlines())
    return Fit(
        is_there, "it has lines of sacctmgr dump" if is_there else "no line Cluster - 'NAME' or Account - 'NAME'"
    )


@slurm_file("dump", "what sacctmgr dump writes", _recognise)
def read_dump(text: str, name: str) -> SlurmFacts:
    """Return the accounts and users of a dump.

    Raises
    ------
    ParameterError
        A line is not as sacctmgr writes it, or an account or a user is there twice.
    """
    facts = SlurmFacts()
    parent, cluster = ROOT, ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{name}, line {number}"
        kind, called, words = _parsed(line.strip(), where)
        if kind == "parent":
            parent = called
        elif kind == "cluster":
            if cluster:
                raise ParameterError(f"{where}: is of another cluster than {cluster!r} above; give a dump of one")
            cluster = called
            facts.add_account(ROOT, association_of(words, where, facts, ROOT), where)
        elif kind == "user":
            entry = association_of(words, where, facts, f"{called} of {parent}")
            facts.add_user((parent, called, words.get("partition", "")), entry, where)
            if default := words.get("defaultaccount", ""):
                facts.defaults[called] = default
        else:
            facts.add_account(called, {"parent": parent, **association_of(words, where, facts, called)}, where)
    return facts


def _parsed(line: str, where: str) -> tuple[str, str, dict[str, str]]:
    """Return what a line is of, the name, and values by keys in small letters."""
    found = _LINE.fullmatch(line)
    name = _NAME.match(found[2]) if found else None
    if found is None or name is None:
        raise ParameterError(
            f"{where}: {line[:60]!r} is no line of sacctmgr dump, such as Account - 'NAME':Fairshare=1"
        )
    rest = found[2][name.end() :]
    keys = [*_KEY.finditer(rest)]
    if rest and (not keys or keys[0].start()):
        raise ParameterError(f"{where}: {rest[:60]!r} is not :KEY=VALUE as sacctmgr writes it")
    ends = [*(each.start() for each in keys[1:]), len(rest)]
    words = {key[1].lower(): rest[key.end() : end].strip().strip("'") for key, end in zip(keys, ends, strict=False)}
    return found[1].lower(), name[1] if name[2] is None else name[2], words
