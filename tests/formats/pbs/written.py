# SPDX-License-Identifier: BSD-3-Clause
"""Logs of PBS written from what jobs did, drawn by Hypothesis: every type of record, every form of a value."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from tests.strategies import choices

BEGIN = 1688634000

_names = st.sampled_from(["u1", "u2", "domain users", "müller", "O'Neil", "a=b", "x y z", '"quoted name"', '5" disk'])
_places = st.sampled_from(["/0", "/0-3", "/0-1,5", "/0*13", "/0*0", ":ppn=4", ""])
_parts = st.lists(
    st.tuples(st.sampled_from(["n1", "n2", "node-7.ib0", "n[01-03,7]", "5-8", "n1:15002"]), _places),
    min_size=1,
    max_size=4,
)
_hosts = st.tuples(_parts, st.sampled_from("+++,")).map(
    # A comma before a digit stands between slots.
    lambda drawn: ("+" if any(host[0].isdigit() for host, _ in drawn[0]) else drawn[1]).join(map("".join, drawn[0]))
)
_times = st.sampled_from(["00:10:00", "01:00:00", "2:01:02:03", "3605", "100:00:00"])
_sizes = st.sampled_from(["1048576kb", "12.5gb", "100mb", "3M", "4096", "4096b", "512w", "2kw", "0kb", "1TB"])
_selects = st.sampled_from(["2:ncpus=4:mpiprocs=4:ngpus=1+1:ncpus=1", "1", "ncpus=8:mem=2gb", "3:ncpus=2+2"])
_nodes = st.sampled_from(["2:ppn=4", "1:ppn=8+2:ppn=4", "n1+n2", "1", "n1:ppn=2+n2:ppn=3", "4:ppn=2:gpus=2#shared"])


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%m/%d/%Y %H:%M:%S")


_OPTIONAL: list[tuple[str, st.SearchStrategy[str]]] = [
    ("account", _names),
    ("exec_host", _hosts),
    ("exec_vnode", st.sampled_from(["(n1:ncpus=8:ngpus=2)+(n2:ncpus=8)", "(n3:ncpus=4+n3[1]:ncpus=2)"])),
    ("Variable_List", choices('"A=1 user=evil",B=2', 'X="a b" Y=3', "C=d")),
    ("Resource_List.select", _selects),
    ("Resource_List.nodes", _nodes),
    ("Resource_List.ncpus", choices("1", "8")),
    ("Resource_List.walltime", _times),
    ("Resource_List.mem", _sizes),
    ("unknown", st.just("1")),
]


@st.composite
def _values(draw: st.DrawFn) -> str:
    """Draw what S and E records say of a job."""
    words = [f"user={draw(_names)}", f"group={draw(_names)}"]
    words += [f"{key}={draw(values)}" for key, values in _OPTIONAL if draw(st.booleans())]
    words.insert(2, f"jobname={draw(_names)}")
    words.insert(3, "queue=" + draw(choices("batch", "interactive", "long")))
    return draw(choices(" ", "  ")).join(words)


@st.composite
def _job(draw: st.DrawFn, number: int, begin: int) -> list[tuple[int, str]]:
    """Draw the records of a job, with their times."""
    time = begin + draw(st.integers(0, 5000))
    own = f"{number}[{draw(st.integers(0, 9))}]" if draw(st.integers(0, 3)) == 0 else str(number)
    job_id = own + draw(choices("", ".srv"))
    created = time
    values = draw(_values())
    found: list[tuple[int, str, str]] = []
    if draw(st.integers(0, 5)):
        found.append((time, "Q", draw(st.sampled_from(["queue=batch", f"ctime={created} queue=long"]))))
    for _ in range(draw(choices(0, 0, 0, 1, 2))):
        time += draw(st.integers(0, 50))
        found.append((time, draw(choices(*"SRCTaMz")), values))
    fate = draw(choices("E", "E", "E", "E", "D", "A", "DE", "SDE", "open", "late"))
    for kind in {"E": "SE", "late": "SE", "open": "S"}.get(fate, fate):
        time += draw(st.integers(1, 2000))
        text = values if kind == "S" else draw(choices("", "requestor=u1@login"))
        if kind == "E":
            start = time - draw(st.integers(0, time - created))
            text = f"{values} ctime={created} qtime={created} etime={created} " + draw(
                st.sampled_from([f"start={start} ", f"start={start} ", "start=0 ", ""])
            )
            text += f"end={time} " + draw(choices("", *(f"Exit_status={code} " for code in _CODES)))
            text += draw(choices("", "resources_used.cput=10 ")) + f"resources_used.mem={draw(_sizes)}"
            text += draw(choices("", " run_count=3", " resources_used.ncpus=5", "  "))
        found.append((time, kind, text))
    if fate == "late":
        found += [(time + draw(st.integers(0, 90)), kind, "requestor=u1@login") for kind in draw(_LATE)]
    return [(time, f"{_date(time)};{kind};{job_id};{text}") for time, kind, text in found]


_CODES = (0, 0, 1, 255, 143, 271, 265, -11, -29)
_LATE = choices("R", "D", "DRa")
_NOISE = (
    *("", "a message", "\0\0\0", "07/06/2023 09:00:00;L;license;floating license hour:3", "07/06/2023 09:00:00;E;"),
    *("07/06/2023 09:00:00;B;R12.srv;owner=x start=1", "07/06/2023 09:00:00;Q;77[].srv;queue=batch"),
    *("07/06/2023 09:00:00;D;77[1-3].srv;requestor=x", "not/a/date 09:00:00;Q;1.srv;queue=batch"),
)


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    """Draw a log: jobs whose records stand between those of others, ids that come again, lines of no job."""
    numbers = draw(st.lists(st.integers(1, 6), max_size=8))
    lines: list[tuple[int, int, str]] = []
    for place, number in enumerate(numbers):
        begin = BEGIN + 9000 * numbers[:place].count(number)  # some that come again do so before the one before ended
        lines += [(time, place, line) for time, line in draw(_job(number, begin))]
    for line in draw(st.lists(st.sampled_from(_NOISE), max_size=3)):
        lines.append((BEGIN + draw(st.integers(0, 9000)), -1, line))
    lines.sort(key=lambda each: each[0])
    prefix = draw(choices("", "", "20230706:", "acct/20230706:", "\0\0"))
    end = draw(choices("\n", "\r\n", " \n"))
    written: list[Any] = [(prefix + line if line and line[0].isdigit() else line) + end for _, _, line in lines]
    return "".join(written).encode(draw(choices("utf-8", "latin-1")))
