"""A log may come in whatever pieces: cut at any byte, over any nights, some of which find it unchanged."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.formats.test_every_format import OPTIONS, SAMPLES
from tests.pipelines.history.in_memory import Books
from tests.pipelines.history.nights import HEADER, days

_OF = {name: SAMPLES[name] for name in SAMPLES if not name.startswith("loadleveler")}
_OF |= {name: SAMPLES[f"loadleveler llsummary-l_{name}.txt"] for name in ("dst_zone", "broken_latin1_crlf")}
LOGS = {name: (name.split()[0] if name in SAMPLES else "loadleveler", text) for name, text in _OF.items()}
LOGS["swf"] = "swf", (HEADER + "".join(days(3)) + "no job\n").encode()
PACKED: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}


def read_as(kind: str) -> str:
    """Return a format with its options."""
    options = ",".join(f"{key}={value}" for key, value in OPTIONS.get(kind, {}).items())
    return f"{kind}:{options}" if options else kind


def jobs_at_once(folder: Path, kind: str, *texts: bytes) -> pd.DataFrame:
    """Return the jobs of files that came whole, in one night."""
    books = Books(folder, read_as(kind))
    for number, text in enumerate(texts):
        (books.inbox / f"{number}.log").write_bytes(text)
    books.night()
    return books.jobs()


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_pieces(name: str, tmp_path: Path, data: st.DataObject) -> None:
    """The jobs of nights are those of one delivery."""
    kind, text = LOGS[name]
    cuts = sorted(data.draw(st.lists(st.integers(1, len(text) - 1), min_size=1, max_size=3)))
    ending = data.draw(st.sampled_from(list(PACKED)))
    books = Books(tmp_path / "nights", read_as(kind))
    for cut in (*cuts, len(text)):
        (books.inbox / f"log{ending}").write_bytes(PACKED[ending](text[:cut]))
        for _ in range(data.draw(st.integers(1, 3))):
            books.night()
    expected = jobs_at_once(tmp_path / "once", kind, text)
    pd.testing.assert_frame_equal(books.jobs(), expected, check_exact=True)
    assert len(expected) > 0
