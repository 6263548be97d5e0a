"""What a predictor has learnt, as a file: saved whole or not at all, and read back only as it was written.

The file begins with a line that names its form and version, and one with the SHA-256 of what follows, which is a zip of
numpy arrays and a text of JSON. Nothing in it is executed when it is read.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.errors import StateError
from swftools.qbets.bounds.registry import Bound
from swftools.qbets.queue_state import WAITING, Submissions, empty_queue
from swftools.qbets.resumed import Known
from swftools.qbets.rivals.replaying import KnownJobs, nothing_submitted
from swftools.whole_files import create_file

FORM = b"swftools wait predictor"

VERSION = 2
"""Raised when the arrays of a state come to mean something else."""

ABOUT = {"method", "name", "by", "start", "parameters", "groups"}
"""What a state says about its predictor."""

Array = npt.NDArray[Any]


def write_state(
    path: str | os.PathLike[str], about: Mapping[str, Any], known: Mapping[str, Known | KnownJobs], bound: Bound
) -> None:
    """Write what is known of each group, and about the predictor.

    Raises
    ------
    StorageError
        The file cannot be written; an old one stays as it was.
    """
    arrays: dict[str, Array] = {}
    for number, one in enumerate(known.values()):
        if isinstance(one, KnownJobs):  # of a rival
            arrays |= dict(_named(one, f"{number}"))
            continue
        queue = one.with_room(
            bound,
            one.size + len(one.told),
            len(one.queue.history.end) if one.queue else 1,
            clusters_at_all=one.queue is not None and len(one.queue.values.value) > 1,
            newest=len(one.queue.arrivals.value) if one.queue else 0,
        )
        arrays |= dict(_named(queue, f"{number}/queue"))
        arrays |= dict(_named(one.waiting, f"{number}/waiting"))
        arrays |= {f"{number}/told": one.told, f"{number}/last": np.array([one.last])}
    text = json.dumps({**about, "groups": list(known)})
    arrays["about"] = np.frombuffer(text.encode(), np.uint8)
    body = io.BytesIO()
    np.savez_compressed(body, **arrays)  # type: ignore[arg-type]  # its stubs want no names from a mapping
    content = body.getvalue()
    with create_file(path) as file:
        file.write(FORM + b" %d\n" % VERSION + hashlib.sha256(content).hexdigest().encode() + b"\n" + content)


def read_state(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Known | KnownJobs]]:
    """Return what is said about the predictor, and what is known of each group.

    Raises
    ------
    StateError
        There is no such file, or it is of another form or version, truncated or damaged.
    """
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            form, checksum, content = file.readline(200), file.readline(200), file.read()
    except OSError as error:
        raise StateError(f"{name}: cannot be read: {error.strerror}") from error
    if not form.startswith(FORM + b" "):
        raise StateError(f"{name}: is no state of a wait predictor; write one by WaitPredictor.save")
    if form != FORM + b" %d\n" % VERSION:
        said = form.removeprefix(FORM).strip().decode(errors="replace")
        raise StateError(f"{name}: version {said:.20}, and this swftools reads {VERSION}: replay the logs anew")
    if hashlib.sha256(content).hexdigest().encode() + b"\n" != checksum:
        raise StateError(f"{name}: truncated or damaged: its checksum differs; restore it, or replay the logs anew")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        about = json.loads(arrays["about"].tobytes())
        _check_about(about)
        known = {label: _known(arrays, str(number)) for number, label in enumerate(about.pop("groups"))}
    except (KeyError, IndexError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise StateError(f"{name}: is not what this swftools writes: {error}; replay the logs anew") from error
    return about, known


def _check_about(about: object) -> None:
    """Refuse what does not say about a predictor what it must."""
    if not isinstance(about, dict) or set(about) != ABOUT:
        raise ValueError(f"about the predictor it says {about!r:.200}")


def _known(arrays: Mapping[str, Array], number: str) -> Known | KnownJobs:
    """Return what is known of a group, or by a rival of the machine."""
    if f"{number}/predicted" in arrays:
        return _remade(nothing_submitted(), number, arrays)
    form = empty_queue(0, 1, 0, clusters_at_all=True, newest=1)
    queue = _remade(form, f"{number}/queue", arrays)
    waiting = _remade(Submissions(*np.zeros((3, 0))), f"{number}/waiting", arrays)
    told, last = arrays[f"{number}/told"], float(arrays[f"{number}/last"][0])
    if queue.counts[WAITING] != len(told) or len(waiting.submit) != len(told):
        raise ValueError(f"group {number} has another number of waiting jobs than it says")
    return Known(queue, waiting, told, last)


def _named(part: Any, name: str) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of a tuple of arrays, or of such tuples, by name."""
    if isinstance(part, tuple):
        for field, inner in zip(part._fields, part, strict=True):  # type: ignore[attr-defined]  # all of ours have names
            yield from _named(inner, f"{name}/{field}")
    else:
        yield name, part


def _remade(form: Any, name: str, arrays: Mapping[str, Array]) -> Any:
    """Return a tuple of the form of another, of the arrays that have its names."""
    if isinstance(form, tuple):
        fields = zip(form._fields, form, strict=True)  # type: ignore[attr-defined]
        return type(form)(*(_remade(inner, f"{name}/{field}", arrays) for field, inner in fields))
    array = np.ascontiguousarray(arrays[name])
    if array.dtype != form.dtype or array.ndim != form.ndim:
        raise ValueError(f"{name} is of {array.dtype}, {array.ndim} dimensions")
    return array
