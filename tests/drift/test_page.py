# SPDX-License-Identifier: BSD-3-Clause
"""What the page on drift says of aspects, thresholds and alarms on real logs is so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from swftools import clean, read_swf
from swftools.drift import list_drift_aspects, list_drift_statistics, measure_drift
from tests.pages import DOCS, table_on_page

DAY = 86_400.0
LOGS = table_on_page("drift.md", "log")


def test_the_table_of_thresholds_is_that_of_the_code() -> None:
    """Every aspect, statistic and default threshold, in order."""
    text = (DOCS / "drift.md").read_text(encoding="utf-8")
    lines = text[text.index("| aspect |") :].split("\n\n")[0].splitlines()[2:]
    found: dict[str, dict[str, float]] = {}
    for line in lines:
        name, _, statistic, threshold = (cell.strip().strip("`") for cell in line.strip("|").split("|"))
        of = found.setdefault(name or list(found)[-1], {})
        of[statistic] = float(threshold)
    assert found == {name: dict(aspect.thresholds) for name, aspect in list_drift_aspects().items()}
    for name in list_drift_statistics():
        assert f"`{name}`" in text


@pytest.mark.slow
@pytest.mark.full
def test_alarms_on_real_logs(shared: Path) -> None:
    """Month by month over five logs: as many alarms as the page says, and the median and largest drifts."""
    frames = []
    for name in LOGS:
        trace, _ = clean(read_swf(shared / "traces" / f"{name}.swf.gz"))
        submit = trace.jobs["submit_time"]
        months = int((submit.max() - submit.min()) / DAY - 60) // 30 + 1
        for month in range(months):
            now = float(submit.min() + (60 + 30 * month) * DAY)
            frames.append(measure_drift(trace.jobs, trace.processors, now=now).assign(log=name, month=month))
    drift = pd.concat(frames, ignore_index=True)
    for name, of_log in drift.groupby("log"):
        by_month = of_log.groupby("month")["is_beyond"].sum()
        found = [len(by_month), int((by_month > 0).sum()), int(by_month.sum())]
        assert [int(cell) for cell in LOGS[str(name)]] == found, name
    is_ratio = drift["statistic"].str.startswith("ratio")
    drift["far"] = np.where(is_ratio, np.maximum(drift["drift"], 1 / drift["drift"]), drift["drift"].abs())
    rows = {
        f"{aspect} {statistic}": [
            f"{rows['threshold'].iloc[0]:g}",
            str(int(rows["is_beyond"].sum())),
            f"{rows['far'].median():.2f}",
            f"{rows['far'].max():.2f}",
        ]
        for (aspect, statistic), rows in drift.groupby(["aspect", "statistic"], sort=False)
    }
    assert table_on_page("drift.md", "measured") == rows
