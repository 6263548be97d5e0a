# SPDX-License-Identifier: BSD-3-Clause
"""Lines asked for later: those of the text, of several files and compressed too."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.formats import source_lines
from swftools.formats.multi_file import LogFiles, log_files
from swftools.formats.source_lines import SourceLines


@given(st.lists(st.text("ab \r;é", max_size=5).map(str.encode), min_size=1, max_size=9), st.data())
def test_lines_are_those_of_the_text(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], data: st.DataObject
) -> None:
    """Whatever pieces the text is read in, in any order, some twice."""
    path = tmp_path_factory.mktemp("lines") / "log"
    path.write_bytes(b"\n".join(lines) + data.draw(st.sampled_from([b"", b"\n"])))
    lines = path.read_bytes().split(b"\n")[: path.read_bytes().count(b"\n") + 1]
    count = len(lines) - (lines[-1] == b"")
    numbers = data.draw(st.lists(st.integers(1, max(count, 1)), max_size=6)) if count else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_lines, "_PIECE", data.draw(st.integers(1, 8)))
        found = SourceLines(LogFiles([path], "log")).at(numbers)
        assert found == [lines[number - 1] for number in numbers]
        for beyond in (0, count + 1):
            with pytest.raises(ParameterError, match="there is no line"):
                SourceLines(LogFiles([path], "log")).at([beyond])


def test_of_several_files_in_a_trace(tmp_path: Path) -> None:
    """A trace quotes them, none where a job has no line."""
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"one\r\ntwo"))
    (tmp_path / "b").write_bytes(b"three\n")
    empty = Trace.from_columns()
    trace = Trace(empty.header, empty.jobs, source=SourceLines(log_files(tmp_path)))
    numbers = pd.Series([3, None, 1], index=[7, 8, 9], dtype="Int64")
    assert trace.line_texts(numbers).fillna("").to_dict() == {7: "three", 8: "", 9: "one"}
