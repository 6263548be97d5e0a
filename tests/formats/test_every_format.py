# SPDX-License-Identifier: BSD-3-Clause
"""What holds for every format of accounting logs, on its samples: to SWF and back, and nobody named."""

from __future__ import annotations

import gzip
import io
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swftools import Trace, clean, read_log, read_swf, write_swf
from swftools.errors import LogFormatError
from swftools.fields.dictionary import SWF_NAMES
from swftools.formats.detect import detect
from tests.formats.lsf import test_lsf_twin as lsf
from tests.formats.mutations import mutations
from tests.formats.sge import test_sge_twin as sge

HERE = Path(__file__).parent
OPTIONS: dict[str, dict[str, Any]] = {
    "loadleveler": {"time_zone": "America/Los_Angeles", "processors_per_node": 8},
    "slurm": {"time_zone": "America/Chicago"},
    "pbs": {"time_zone": "America/New_York"},
    "lsf": {},
    "sge": {},
}
SAMPLES: dict[str, bytes] = {
    "slurm sacct": (HERE / "slurm" / "sacct.txt").read_bytes(),
    "pbs torque": (HERE / "pbs" / "samples" / "torque_and_pro.txt").read_bytes(),
    "pbs variations": (HERE / "pbs" / "samples" / "variations.txt").read_bytes(),
    "lsf sample": lsf.SAMPLE,
    "sge sample": sge.SAMPLE,
    **{
        f"loadleveler {path.name}": gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in sorted((HERE / "loadleveler" / "samples").glob("llsummary-l*"))
    },
}

BY_DAY = [name for name in SAMPLES if not name.startswith("loadleveler") or "mixed" in name or "broken" in name]
"""Those that are tried by day where each takes long: not the same listing with its dates in other forms."""

each_by_day = pytest.mark.parametrize(
    "sample", [pytest.param(name, marks=() if name in BY_DAY else (pytest.mark.slow,)) for name in SAMPLES]
)


def read(sample: str, text: bytes, **how: Any) -> Trace:
    """Read a sample, or what became of it."""
    kind = sample.split(maxsplit=1)[0]
    return read_log(io.BytesIO(text), kind, **OPTIONS[kind], **how)


@pytest.mark.parametrize("sample", SAMPLES)
def test_it_is_recognised(sample: str) -> None:
    """As one format, and no other."""
    assert detect(SAMPLES[sample][: 1 << 16], "log")[0] == sample.split(maxsplit=1)[0]


@pytest.mark.parametrize("sample", SAMPLES)
def test_to_swf_and_back(sample: str) -> None:
    """SWF keeps every value that it can hold, and the header."""
    trace = read(sample, SAMPLES[sample])
    assert len(trace)
    file = io.BytesIO()
    write_swf(trace, file)
    again = read_swf(io.BytesIO(file.getvalue()))
    pd.testing.assert_frame_equal(again.jobs[list(SWF_NAMES)], trace.jobs[list(SWF_NAMES)])
    assert again.header == trace.header
    _, report = clean(trace)
    assert report.balance["job_lines"] == len(trace) + len(trace.quarantine) + len(trace.merged)


@pytest.mark.parametrize("sample", SAMPLES)
def test_why_a_format_was_chosen_names_nobody(sample: str) -> None:
    """It is told in published manifests too."""
    kind, why = detect(SAMPLES[sample][: 1 << 16], "log")
    trace = read_log(io.BytesIO(SAMPLES[sample]), **OPTIONS[kind])
    assert trace.provenance["recognised_by"] == why
    others = {detect(text[: 1 << 16], "log")[1] for other, text in SAMPLES.items() if other.split()[0] == kind}
    assert others == {why}, "the words are the format's, not the log's"


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 12), marks=pytest.mark.slow)])
@each_by_day
def test_nobody_is_named(sample: str, seeds: range) -> None:
    """Names, ids and texts of the log stand nowhere where they are withheld, however damaged it is."""
    for seed in seeds:
        text = mutations(SAMPLES[sample], seed) if seed else SAMPLES[sample]
        with suppress(LogFormatError):
            plain = read(sample, text)
            trace = read(sample, text, anonymise="numbers")
            told = repr(
                [frame.to_csv() for frame in (trace.jobs, trace.quarantine, trace.merged, trace.names)]
                + [trace.header.to_lines(), trace.provenance]
            )
            states = set(plain.jobs.get("logged_state", pd.Series(dtype=str)).dropna())
            words = {*plain.names["name"], *plain.jobs.get("log_id", pd.Series(dtype=str)).dropna()} - states
            # Short words, and those that are English too, may stand anywhere.
            named = {
                word for word in words if len(word) > 3 and word not in {"normal", "batch", "queue", "other", "long"}
            }
            assert [] == [word for word in named if word in told]
            assert trace.quarantine["text"].isna().all()
            assert trace.jobs["run_time"].equals(plain.jobs["run_time"])
            assert trace.jobs["user_id"].equals(plain.jobs["user_id"])
