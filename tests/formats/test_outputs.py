# SPDX-License-Identifier: BSD-3-Clause
"""What commands print is named for what it is, and each entry says what to give instead (the corpus has the texts)."""

from __future__ import annotations

import pytest

from swftools.formats.outputs import _OUTPUTS, find_output
from swftools.formats.registry import list_formats
from tests.corpus.situation import load, situations


def test_each_names_a_format_or_a_command() -> None:
    """A format's name would be shown as it is, were it not one."""
    assert [instead for _, _, instead in _OUTPUTS if " " not in instead and instead not in list_formats()] == []


@pytest.mark.parametrize("head", [b"", b"hello\n", b"JOBID\n", b"1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"])
def test_other_texts_are_nothing(head: bytes) -> None:
    """Nothing is guessed."""
    assert find_output(head) is None


def test_no_log_is_taken_for_an_output() -> None:
    """Those of the corpus that are read are none."""
    cases = [load(path) for path in situations().values()]
    texts = [text for case in cases if case.jobs is not None for text in (case.files or {"": case.text}).values()]
    assert len(texts) > 50
    assert [text for text in texts if text and find_output(text.encode())] == []
