# SPDX-License-Identifier: BSD-3-Clause
"""A PBS for tests, as a program that is called qstat, qselect or pbsnodes, with the faults of OpenPBS.

As a program it reads what there is from ``pbs.json`` beside it: jobs with their attributes, those of the history, and
faults by command. Times are epochs there, and printed as ctime does in the zone of the caller, as qstat does.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

TIMES = ("ctime", "qtime", "etime", "stime", "mtime", "obittime")
TABS = "    "


def printed(jobs: dict[str, dict[str, Any]], fault: str) -> str:
    """Return jobs as qstat prints them, with a fault."""
    if fault == "first only":  # of the jobs only the first one is printed
        jobs = dict(list(jobs.items())[:1])
    if fault == "drops":
        jobs = {name: job for place, (name, job) in enumerate(jobs.items()) if place % 2 == 0}
    lines = ["{", f'{TABS}"timestamp":1700000000,', f'{TABS}"pbs_version":"22.05.11",', f'{TABS}"Jobs":{{']
    for place, (name, job) in enumerate(jobs.items()):
        if fault == "repeats" and place:
            lines[-1] += ","
            lines.append(f'{TABS}"Jobs":{{')
        lines += [f'{2 * TABS}"{name}":{{', *_attributes(job, fault)]
        lines.append(2 * TABS + ("}" if place == len(jobs) - 1 or fault == "repeats" else "},"))
        if fault == "repeats":
            lines.append(f"{TABS}}}")
    lines += [] if fault == "repeats" else [f"{TABS}}}"]
    text = "\n".join([*lines, "}"]) + "\n"
    if fault == "text in front":
        text = "\nserver:\nJob ID   Username\n------   --------\n" + text
    if fault.startswith("cut at "):
        text = text[: int(len(text) * float(fault[7:]))]
    return text


def _attributes(job: dict[str, Any], fault: str) -> list[str]:
    """Return the attributes of a job as lines."""
    lines = [f'{3 * TABS}"Job_Name":"a \\"job\\"",']
    for name, value in job.items():
        told = value
        if name in TIMES:
            told = time.ctime(value)
        if isinstance(told, dict):
            inner = [f"{4 * TABS}{json.dumps(key)}:{json.dumps(each)}" for key, each in told.items()]
            lines += [f'{3 * TABS}"{name}":{{', *(f"{line}," for line in inner[:-1]), *inner[-1:], f"{3 * TABS}}},"]
        else:
            lines.append(f"{3 * TABS}{json.dumps(name)}:{json.dumps(told)},")
    if fault == "keys twice":
        lines.append(f'{3 * TABS}"Variable_List":{{\n{4 * TABS}"A":"1"\n{3 * TABS}}},')
    odd = {
        "control": '"a\tb\x01\nc"',
        "numbers": "005",
        "not a number": "NaN",
        "no marks": "1gb",
        "marks": '"() {  eval "$(/usr/bin/modulecmd bash $*)"\n}"',
        "escapes": '"ab\\,c\\\'"',
    }.get(fault, '"fine"')
    return [
        *lines,
        f'{3 * TABS}"Variable_List":{{',
        f'{4 * TABS}"PBS_O_HOME":"/home",',
        f'{4 * TABS}"X":{odd}',
        f"{3 * TABS}}}",
    ]


def answer(told: dict[str, Any], name: str, words: list[str]) -> tuple[int, str, str]:
    """Return the status of a command, what it prints, and what it says of errors."""
    fault = told.get("faults", {}).get(name, "")
    if fault == "away":
        return 162, "", f"{name}: cannot connect to server pbs (errno=15010)"
    jobs, history = told["jobs"], told["history"]
    if name == "qselect":
        if "-H" in words:
            if history is None:
                return 0, "", "qselect: job_history_enable is set to false"
            since = time.mktime(time.strptime(words[-1], "-tm.ge.%Y%m%d%H%M.%S"))
            jobs = {each: job for each, job in history.items() if job["mtime"] >= since}
        return 0, "".join(f"{each}\n" for each in jobs), ""
    if name == "pbsnodes":
        return 0, told["nodes"], ""
    if "-Q" in words or "-B" in words:
        return 0, told["queues" if "-Q" in words else "server"], ""
    ids = words[words.index("json") + 1 :]
    there = {**jobs, **(history or {})} if "-x" in words else jobs
    unknown = [f"qstat: Unknown Job Id {each}" for each in ids if each not in there]
    if ids:
        there = {each: there[each] for each in ids if each in there}
    return 153 if unknown else 0, printed(there, fault), "\n".join(unknown)


def main() -> int:
    """Answer as PBS does."""
    program = Path(sys.argv[0])
    told = json.loads((program.parent / "pbs.json").read_text())
    status, out, wrong = answer(told, program.name, sys.argv[1:])
    sys.stdout.write(out)
    sys.stderr.write(wrong)
    return status


if __name__ == "__main__":
    sys.exit(main())
