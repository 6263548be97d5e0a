# SPDX-License-Identifier: BSD-3-Clause
"""Generated logs of PBS: as the naive reader reads them, the same in pieces of any size, interpreted as compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swftools.formats.pbs import jobs, lines, lives, reader, values
from swftools.kernel import Kernel
from tests.examples import examples
from tests.formats.pbs.compared import agree, read, same_in_pieces
from tests.formats.pbs.written import logs
from tests.interpreted import FORMS, all_interpreted

SAMPLES = sorted(Path(__file__).parent.glob("samples/*.txt"))


@given(logs())
@examples(1)
def test_as_the_naive_reader(text: bytes) -> None:
    """Every job, every value, and what became of every line."""
    agree(read(text), text)


@given(logs(), st.sampled_from([1, 7, 100, 1000]))
@settings(examples(0.15), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_same_in_pieces(tmp_path: Path, text: bytes, chunk_bytes: int) -> None:
    """Pieces of a byte and more: a job's records are put together whatever lies between them."""
    path = tmp_path / "log"
    path.write_bytes(text)
    same_in_pieces(path, read(text), chunk_bytes)
    with pytest.MonkeyPatch.context() as patch:  # jobs are forgotten soon, and deletions count soon
        patch.setattr(reader, "WINDOW", 3)
        same_in_pieces(path, read(text), chunk_bytes)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples(path: Path) -> None:
    """The samples, whole and in pieces."""
    whole = read(path.read_bytes())
    agree(whole, path.read_bytes())
    for chunk_bytes in (1, 50, 3000):
        same_in_pieces(path, whole, chunk_bytes)


def test_there_are_samples() -> None:
    """The tests above have what to run on."""
    assert len(SAMPLES) >= 2


def _columns(text: bytes) -> dict[str, Any]:
    """Return all that the kernels find in a text."""
    found, strays = lines.find_lines(text, 5, is_cut=not text.endswith(b"\n"))
    last = 5 + text.count(b"\n")
    followed = lives.follow_lives(text, found, last, is_last=True, window=3)
    rows = len(found.line)
    begin_of, end_of = (np.full((len(jobs.KEYS), rows), -1, np.int64) for _ in range(2))
    repeated = np.zeros(rows, np.int64)
    values.find_values(text, found.message, found.end, jobs._TABLE, jobs._IS_FREE, begin_of, end_of, repeated)
    told: dict[str, Any] = {"lines": found, "strays": strays, "lives": followed, "values": (begin_of, end_of, repeated)}
    for key in ("exec_host", "Resource_List.select", "exec_vnode", "user"):
        row = jobs.KEYS.index(key)
        slots, hosts, state = np.empty(rows), np.empty(rows), np.zeros(rows, np.int8)
        seen, seen_row = np.zeros(len(text) + 4, np.int64), np.full(len(text) + 4, -1, np.int64)
        values.fill_hosts(text, begin_of[row], end_of[row], slots, hosts, state, seen, seen_row)
        chunks, processors, gpus, states = np.empty(rows), np.empty(rows), np.empty(rows), np.zeros(rows, np.int8)
        values.fill_chunks(text, begin_of[row], end_of[row], True, 1, chunks, processors, gpus, states)
        told[key] = (slots, hosts, state, chunks, processors, gpus, states)
    number, index = np.empty(rows), np.empty(rows)
    values.fill_ids(text, found.id_begin, found.id_end, number, index)
    return told | {"ids": (number, index)}


def _use(monkeypatch: pytest.MonkeyPatch, attribute: str) -> None:
    """Have all kernels of this format run interpreted (``py_func``), or compiled with checks of bounds."""
    for module in (lines, lives, values):
        for name, kernel in list(vars(module).items()):
            if isinstance(kernel, Kernel):
                monkeypatch.setattr(module, name, getattr(kernel, attribute))


TEXTS = [
    b"07/06/2023 09:00:00;E;1.s;user=a b exec_host=h/0-3,7+h/1*5+g exec_vnode=(a:ncpus=2:ngpus=1)+(b:ncpus=1)\n"
    b"07/06/2023 09:00:00;Q;1[3].s;\n\0\0\n07/06/2023 09:00:00;D;1[3].s;a\nnothing\n07/06/2023 09:00:00;R;1.s;\n"
    b"07/06/2023 09:00:00;E;2.s;Resource_List.select=2:ncpus=4+ncpus=x user= user=\"a b\" jobname=a=1 b=2 user='x\n"
    b"07/06/2023 09:00:00;S;2.s;exec_host=h/ exec_vnode=+",
    b"07/06/2023 09:00:00;E;1;exec_host=h/0-\n;;;\n07/06/2023 09:00:00;E;1;exec_host=+ =\n"
    b"07/06/2023 09:00:00;E;[1;x=\"\n",
    b"", b"\n", b";", b"07/06/2023 09:00:00;", b"07/06/2023 09:00:00;Q", b"07/06/2023 09:00:00;Q;", b"E;1;user=\"",
    b"07/06/2023 09:00:00;Q;1[", b"07/06/2023 09:00:00;E;1;user", b"07/06/2023 09:00:00;E;1-;user=",
    b"07/06/2023 09:00:00;E;1[2;user='", b"07/06/2023 09:00:00;E;1[2;exec_host=a/1* user=(",
]  # fmt: skip


@pytest.mark.parametrize("how", FORMS)
@pytest.mark.parametrize(
    "text", [*TEXTS, *(path.read_bytes() for path in SAMPLES)], ids=range(len(TEXTS) + len(SAMPLES))
)
def test_interpreted_as_compiled(monkeypatch: pytest.MonkeyPatch, text: bytes, how: str) -> None:
    """The kernels find the same interpreted, and nothing is read outside of the text."""
    compiled = _columns(text)
    _use(monkeypatch, how)
    with all_interpreted(how == "py_func"):
        other = _columns(text)
    assert compiled.keys() == other.keys()
    for name, found in compiled.items():
        for ours, theirs in zip(found, other[name], strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=name)
