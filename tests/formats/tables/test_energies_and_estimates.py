# SPDX-License-Identifier: BSD-3-Clause
"""What tables tell of energy, of powers over time, and of the batch system's own estimates of waits."""

from __future__ import annotations

import io
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from swftools import Trace, read_log
from swftools.errors import LogFormatError, ParameterError
from swftools.formats import propose_mapping
from swftools.qbets import evaluate, logged_estimates, replay
from tests.formats.tables.made import as_dicts, example, parquet

LISTS: list[list[float | None] | None] = [None, [], [250], [250, 300, 200], [0, 0], [None, 500, 400], [1000] * 180]
GAPS = "powers that cover less than 90% of the run: the energy is that of what they cover"


def pm100(lists: list[Any], run: int = 60) -> list[dict[str, Any]]:
    """Return jobs of PM100 with these powers, each of so many seconds."""
    row = as_dicts("pm100")[0]
    rows = []
    for number, powers in enumerate(lists):
        told = {"job_id": str(number), "run_time": str(run), "end_time": f"2020-05-10 10:{5 + run // 60:02}:00"}
        rows.append({**row, **told, "node_power_consumption": powers})
    return rows


def naive(powers: list[float | None] | None) -> tuple[float, float, float]:
    """Return the energy, the mean and the highest power of a list, one number after the other."""
    told = [power for power in powers or [] if power is not None]
    if not told:
        return np.nan, np.nan, np.nan
    return sum(told) * 20.0, sum(told) / len(told), max(told)


def energies(trace: Trace) -> list[tuple[float, ...]]:
    """Return energy, mean and highest power of each job."""
    return list(trace.jobs[["energy", "mean_power", "max_power"]].itertuples(index=False, name=None))


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.large_list(pa.float64()), pa.list_(pa.int32())])
def test_powers_of_pm100_as_lists(kind: pa.DataType) -> None:
    """Sum times 20 s, mean, maximum; none of an empty list; samples that are missing do not count."""
    table = pa.Table.from_pylist(pm100([None] * len(LISTS)))
    place = table.column_names.index("node_power_consumption")
    trace = read_log(io.BytesIO(parquet(table.set_column(place, "node_power_consumption", pa.array(LISTS, kind)))))
    np.testing.assert_allclose(energies(trace), [naive(powers) for powers in LISTS])
    assert trace.provenance["anomalies"][GAPS] == 3  # 20 s, 40 s and 40 s of 60


def test_powers_as_texts() -> None:
    """As CSV and JSON have lists; a word among them is told of, and the others count."""
    rows = pm100([json.dumps(powers) if powers else "" for powers in LISTS[:5]] + ["[100 200 x]"])
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    expected = [*map(naive, LISTS[:5]), naive([100, 200])]
    trace = read_log(io.BytesIO(text), "pm100")
    np.testing.assert_allclose(energies(trace), expected)
    assert trace.provenance["anomalies"]["a power for the energy that cannot be read: taken for missing"] == 1
    plain = "".join(json.dumps(row) + "\n" for row in pm100(LISTS[:4])).encode()
    np.testing.assert_allclose(energies(read_log(io.BytesIO(plain), "pm100")), [*map(naive, LISTS[:4])])


def test_powers_of_many_jobs_in_batches() -> None:
    """Lists are long, so that batches are short; each job has its own, wherever a batch ends."""
    random = Random(1)
    lists = [[random.randint(0, 2000) for _ in range(random.choice([0, 1, 3, 30]))] for _ in range(2500)]
    table = pa.Table.from_pylist(pm100(lists))
    trace = read_log(io.BytesIO(parquet(table, row_group_size=700)), "pm100")
    np.testing.assert_allclose(energies(trace), [naive(powers) for powers in lists])


def test_powers_that_are_no_lists() -> None:
    """A number where lists are declared is another table."""
    table = pa.Table.from_pylist(pm100([250.0, 300.0]))
    with pytest.raises(LogFormatError, match="'node_power_consumption' is of the type double, where lists of powers"):
        read_log(io.BytesIO(parquet(table)), "pm100")


def test_energies_of_kestrel() -> None:
    """They are read in the unit that is said; if none is, they are counted and not read. The mean power follows."""
    header, *rows = example("nrel").decode().splitlines()
    text = "\n".join([f"{header},energy", f"{rows[0]},2.5", f"{rows[1]},"]).encode()
    trace = read_log(io.BytesIO(text), "nrel:energy_unit=kWh")
    assert trace.jobs["energy"].tolist()[0] == 9e6
    assert trace.jobs["mean_power"].tolist()[0] == pytest.approx(9e6 / 99_825)
    assert "max_power" not in trace.jobs
    faulty = rows[0].replace("2019-01-01 08:55:56", "2019-01-01 08:55:54")  # it starts before it is submitted
    plain = read_log(io.BytesIO(text + f"\n{faulty},2.5".encode()), "nrel")
    assert len(plain.quarantine) == 1
    assert "energy" not in plain.jobs
    told = {"an energy whose unit is not told (energy_unit=kWh says it): taken for missing": 1}
    assert plain.provenance["anomalies"] == told
    with pytest.raises(ParameterError, match="energy_unit='kwh' is not one of J, kJ"):
        read_log(io.BytesIO(text), "nrel:energy_unit=kwh")


ESTIMATES = """id,submit,expected start,told,start,end,cpus
1,2024-10-26 20:00:00,2024-10-26 20:01:00,60,2024-10-26 20:00:30,2024-10-26 21:00:00,4
2,2024-10-26 20:10:00,Unknown,,2024-10-26 20:10:30,2024-10-26 21:00:00,4
3,2024-10-27 02:10:00,2024-10-27 02:05:00,3300,2024-10-27 02:30:30,2024-10-27 04:00:00,4
4,2024-10-27 05:00:00,2024-10-27 04:00:00,-3600,2024-10-27 05:00:30,2024-10-27 06:00:00,4
"""
MAPPING = """
columns: {log_id: id, submit: submit, start: start, end: end, requested_processors: cpus, ESTIMATE}
time_zone: Europe/Berlin
"""


@pytest.mark.parametrize(
    "word", ["estimated_start: {column: expected start, missing: Unknown}", "estimated_wait_time: told"]
)
def test_estimates_of_waits(word: str, tmp_path: Path) -> None:
    """The start that was expected, or the wait; across the hour that a zone repeats; one in the past is none."""
    path = tmp_path / "mine.yaml"
    path.write_text(MAPPING.replace("ESTIMATE", word))
    trace = read_log(io.BytesIO(ESTIMATES.encode()), "table", mapping=str(path))
    np.testing.assert_array_equal(trace.jobs["estimated_wait_time"], [60, np.nan, 3300, np.nan])
    told = "estimated_wait_time is below 0 or beyond 1e+10: taken for missing"
    assert trace.provenance["anomalies"][told] == 1


def test_an_expected_start_that_is_no_time(tmp_path: Path) -> None:
    """It is missing, and counted: a job need not have one."""
    path = tmp_path / "mine.yaml"
    path.write_text(MAPPING.replace("ESTIMATE", "estimated_start: expected start"))
    trace = read_log(io.BytesIO(ESTIMATES.encode()), "table", mapping=str(path))
    assert len(trace) == 4
    assert trace.provenance["anomalies"]["an estimated_start that cannot be read: taken for missing"] == 1


def test_an_expected_start_without_a_zone(tmp_path: Path) -> None:
    """It needs one like any time, though all others have theirs."""
    path = tmp_path / "mine.yaml"
    path.write_text("columns: {submit: submit, estimated_start: expected}\n")
    text = b"submit,expected\n2024-05-01T10:00:00Z,2024-05-01T10:00:00\n"
    with pytest.raises(LogFormatError, match="times are printed without a zone"):
        read_log(io.BytesIO(text), "table", mapping=str(path))


def test_estimates_are_compared_with_predictions(tmp_path: Path) -> None:
    """From a table with what squeue --start said, by a mapping that was proposed, to the figures of evaluate."""
    rows = ["JobID,Partition,NCPUS,Timelimit,Submit,ExpectedStart,Start,End"]
    for job in range(150):
        hour, minute = divmod(job * 7, 60)
        day = f"2024-05-{1 + hour // 24:02}T{hour % 24:02}:{minute:02}"
        late = f"2024-05-{1 + hour // 24:02}T{hour % 24:02}:{min(minute + 5, 59):02}"
        rows.append(f"{job},p,4,01:00:00,{day}:00,{'Unknown' if job % 9 == 0 else day + ':50'},{day}:40,{late}:45")
    (tmp_path / "joined.csv").write_text("\n".join(rows) + "\n")
    proposal = propose_mapping(str(tmp_path / "joined.csv"))
    assert 'estimated_start: {column: "ExpectedStart", missing: ["Unknown"]}' in proposal.text
    (tmp_path / "mine.yaml").write_text(proposal.text)
    log = read_log(tmp_path / "joined.csv", "table", mapping=str(tmp_path / "mine.yaml"))
    bounds = replay(log, "trailing", training=50, quantile=0.5)
    found = evaluate([bounds, logged_estimates(log, like=bounds)], grouped_by=["all"]).set_index("method")
    assert found.loc["batch-system", "ratio_p25"] == pytest.approx(40 / 50)
    assert found.loc["batch-system", "within_1_minute"] == 1.0


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("energy: {column: cpus, every: x}", "energy: every='x' is no number of seconds"),
        ("energy: {column: cpus, every: -1}", "energy: every=-1 is no number of seconds"),
        ("exit_code: {column: cpus, every: 20}", "exit_code: every= is for lists of powers"),
        ("energy: {column: cpus, every: 20, unit: kJ}", "energy: every= is for lists of powers"),
    ],
)
def test_words_that_are_refused(word: str, told: str, tmp_path: Path) -> None:
    """With what is wrong in them."""
    path = tmp_path / "mine.yaml"
    path.write_text(MAPPING.replace("ESTIMATE", word))
    with pytest.raises(ParameterError, match=told):
        read_log(io.BytesIO(ESTIMATES.encode()), "table", mapping=str(path))
