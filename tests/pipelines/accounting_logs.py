# SPDX-License-Identifier: BSD-3-Clause
"""Accounting logs for tests of the pipeline: LoadLeveler listings with names that would be found again anywhere."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq

SECRETS = ("zebulon", "quagga", "okapi", "wombat", "axolotl")
"""User, group, class, host and command: words that nothing else has."""

FORMAT = "loadleveler:time_zone=UTC,processors=64,processors_per_node=8"


def step(number: int, submit: int, *, status: str = "Completed", start: int = 10, run: int = 600) -> str:
    """Return a step of a listing, submitted some seconds after the beginning of 2010."""
    user, group, queue, host, command = SECRETS
    begin = int(datetime(2010, 1, 1, tzinfo=UTC).timestamp()) + submit
    times = {"Queue Date": begin, "Dispatch Time": begin + start, "Completion Date": begin + start + run}
    labels = {
        "Job Step Id": f"{host}.{number}.0",
        "Owner": user,
        "Unix Group": group,
        **{label: datetime.fromtimestamp(time, UTC).strftime("%a %b %e %H:%M:%S %Y") for label, time in times.items()},
        "Status": status,
        "Completion Code": "0",
        "Start Count": "2",
        "Alloc. Host Count": "2",
        "Node Usage": "not_shared",
        "Class": queue,
        "Cmd": f"/home/{user}/{command}",
        "Dependency": f"{command} >= 0",
        "Wall Clk Soft Limit": "01:00:00 (3600 seconds)",
    }
    return f"=== Job Step {host}.{number}.0 ===\n" + "".join(f"{label:>19}: {text}\n" for label, text in labels.items())


def listing(jobs: int = 4) -> str:
    """Return a listing: sound steps, one that never ran, some that are no jobs, a repeat, and a message."""
    steps = [step(number, 100 * number) for number in range(jobs)]
    odd = [step(90, 5, status="Running"), step(91, 6, status=f"{SECRETS[4]}ed"), step(92, 7, run=-20)]
    return "".join(
        [
            *steps,
            *odd,
            steps[0],
            f"llsummary: 2512-001 {SECRETS[3]} does not answer\n",
            step(93, 8),
            step(94, 9, status="Not Run"),
        ]
    )


def bytes_below(folder: Path) -> bytes:
    """Return the names of all files of a folder and all that they hold, as a reader of each would see it."""
    found = []
    for path in sorted(folder.rglob("*")):
        found.append(path.relative_to(folder).as_posix().encode())
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            found += [str(table.schema.to_string(show_schema_metadata=True)).encode()]
            found += [str(table.schema.metadata).encode(), table.to_pandas().to_csv().encode()]
        if path.is_file():
            data = path.read_bytes()
            found.append(gzip.decompress(data) if path.suffix == ".gz" else data)
    return b"\n".join(found)
