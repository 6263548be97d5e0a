# SPDX-License-Identifier: BSD-3-Clause
"""What Slurm's words for dependencies name, as ``swftools.formats.accounting.dependencies`` has it.

``afterok:12:13,afterany:14`` waits for the end of all three; with ``?`` for the comma one of them is enough. Behind
``:`` stand ids of jobs, of arrays, ``7_*`` among them, or of elements; behind an id squeue says in brackets whether it
is fulfilled. ``singleton`` waits for all earlier jobs of the same user and name. ``after`` waits for a start, or so
many minutes after it: that is no end, and so it is not followed. Nor is ``expand``.
"""

from __future__ import annotations

import re

_CLAUSE = re.compile(r"(after\w*)((?::[^:]+)+)|(singleton)")
_ID = re.compile(r"([0-9]+(?:_[0-9]+)?)(?:_\*)?(?:\+[0-9]+)?")
_STATE = re.compile(r"\([^)]*\)")
_MARKS = {"afterany": "", "afterok": "=", "afternotok": "!", "aftercorr": "="}


def preceding_jobs(dependency: str, own_id: str = "") -> str | None:
    """Return what a dependency waits for; None where that is no end of a job.

    Parameters
    ----------
    dependency : str
        In Slurm's words.
    own_id : str
        Of the job; an element of an array waits by ``aftercorr`` for the element of the same index.

    Examples
    --------
    >>> preceding_jobs("afterok:17:18,singleton"), preceding_jobs("afterok:17?afternotok:18(unfulfilled)")
    ('17 18 *', '|=17 |!18')
    >>> preceding_jobs("after:17+5"), preceding_jobs("aftercorr:7", "9_3")
    (None, '7_3')
    """
    plain = _STATE.sub("", dependency)
    one_is_enough = "?" in plain
    found: list[str] = []
    for clause in re.split(r"[,?]", plain):
        parts = _CLAUSE.fullmatch(clause.strip())
        if parts is None or (parts[1] and parts[1] not in _MARKS):
            if one_is_enough:
                return None  # nobody knows when that would have let it start
            continue
        if parts[3]:
            if not one_is_enough:
                found.append("*")
            continue
        mark = f"|{_MARKS[parts[1]]}" if one_is_enough else ""
        for word in parts[2].split(":")[1:]:
            if each := _ID.fullmatch(word.strip()):
                index = own_id.partition("_")[2]
                corresponds = parts[1] == "aftercorr" and "_" not in each[1] and index.isdigit()
                found.append(f"{mark}{each[1]}_{index}" if corresponds else mark + each[1])
    return " ".join(found) or None
