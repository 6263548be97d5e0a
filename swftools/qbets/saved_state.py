# SPDX-License-Identifier: BSD-3-Clause
"""What a predictor has learnt, as a file: saved whole or not at all, and read back only as it was written.

The file begins with a line that names its form and version, and one with the SHA-256 of what follows: a line of JSON,
which says what the predictor is and which arrays stand where, and then, for each group of jobs in order of names, its
arrays one behind the other, compressed by zstd. Nothing in it is executed when it is read. Equal knowledge makes equal
bytes: no clock, nothing beyond what is known, one NaN.

Little is imported here, since ``swftools predict`` is to answer at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError, StateError, StateNotFoundError, SwfToolsError
from swftools.named import NO_NAMES, Known
from swftools.output.whole_files import create_file
from swftools.parameters import is_whole
from swftools.qbets.known_queue import KnownQueue, check_known

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FORM = b"swftools wait predictor"

VERSION = 3
"""Raised when the arrays of a state come to mean something else."""

ABOUT = {"method", "name", "by", "start", "parameters", "groups"}
"""What a state says about its predictor, and of the arrays of each group of jobs."""

NAMES = "names"
"""What it also says if the log has names behind the numbers of its groups: they by kind and number."""

PENDING = "pending"
"""What it says too if it was saved while a machine ran: who waits, a list each of job, group, submission (s),
explanatory variable, what it was told (s; null: nothing), and if it was heard of late by how much (s). Whoever asks a
state passes it over."""

MOST_LENGTH = 2**40

MOST_BYTES, MOST_TIMES = 2**28, 1000
"""Bytes of a group that are not compressed: so many, or so many times those that they are read from."""

IN_STEPS = ("time", "submit")
"""Names of arrays that mostly rise: the file has the differences of their bits, which take half the room."""

DTYPES = {kind.str: kind for kind in map(np.dtype, ("<f8", "<i8", "|b1", "|u1"))}
"""Of arrays in files."""

_WRONG = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, MemoryError, zstd.ZstdError)
"""What goes wrong in Python where a file says what is not so."""

Array = npt.NDArray[Any]
Columns = list[tuple[str, np.dtype[Any], int]]


class SavedState:
    """A state as it was read.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    about : mapping
        What is said about the predictor.
    groups : mapping of str to (list, bytes)
        By group, names, types and lengths of its arrays, and these, compressed.
    names : mapping
        The names that the log has behind the numbers of groups, by kind (queue, user) and number.
    """

    is_trusted = False
    """Whether its numbers come from here, not from a file that anybody may have written."""

    def __init__(
        self,
        name: str,
        about: Mapping[str, Any],
        groups: Mapping[str, tuple[Columns, bytes]],
        names: Known = NO_NAMES,
    ) -> None:
        self.name = name
        self.about = about
        self.names = names
        self._groups = groups

    @property
    def labels(self) -> list[str]:
        """The groups of jobs, in order."""
        return list(self._groups)

    @property
    def is_of_rival(self) -> bool:
        """Whether a rival knows jobs, rather than a bound waits."""
        return any(column[0] == "predicted" for columns, _ in self._groups.values() for column in columns)

    def known(self, label: str, form: Any) -> Any:
        """Return what is known of a group: a tuple of arrays, which are not written to, of the form of another.

        Raises
        ------
        StateError
            It has no such form.
        """
        with self.refusing(f"group {label!r}: "):
            columns, content = self._groups[label]
            arrays = _arrays(columns, _decompressed(content, sum(count * kind.itemsize for _, kind, count in columns)))
            made = _remade(form, "", arrays)
            _refuse_more(arrays)
            if isinstance(made, KnownQueue):
                check_known(made)
        return made

    @contextmanager
    def refusing(self, where: str = "") -> Iterator[None]:
        """Make of whatever goes wrong with what the file says the one error about a file that is not ours."""
        try:
            yield
        except SwfToolsError as error:
            if not isinstance(error, ParameterError):
                raise
            raise _not_ours(self.name, f"{where}{error}") from error
        except _WRONG as error:
            raise _not_ours(self.name, f"{where}{error}") from error


def write_state(path: str | os.PathLike[str], about: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Write what is known of each group, tuples of arrays, and about the predictor.

    Raises
    ------
    StorageError
        The file cannot be written; an old one stays as it was.
    """
    groups, bodies = [], []
    for label in sorted(known):
        arrays = dict(_named(known[label], ""))
        columns = [[name, array.dtype.newbyteorder("<").str, len(array)] for name, array in arrays.items()]
        bodies.append(zstd.compress(b"".join(_bytes_of(name, array) for name, array in arrays.items())))
        groups.append({"label": label, "bytes": len(bodies[-1]), "arrays": columns})
    head = json.dumps({**about, "groups": groups}, sort_keys=True, separators=(",", ":"))
    content = [head.encode(), b"\n", *bodies]
    checksum = hashlib.sha256()
    for part in content:
        checksum.update(part)
    with create_file(path) as file:
        file.write(FORM + b" %d\n" % VERSION + checksum.hexdigest().encode() + b"\n")
        file.writelines(content)


def read_state(path: str | os.PathLike[str]) -> SavedState:
    """Return what a file says about a predictor, and what it knew, by group.

    Raises
    ------
    StateNotFoundError
        There is no such file.
    StateError
        It cannot be read, is of another form or version, truncated or damaged.
    """
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            form, checksum, content = file.readline(200), file.readline(200), file.read()
    except FileNotFoundError as error:
        remedy = "mend the path, or write one by WaitPredictor.save"
        raise StateNotFoundError(f"{name}: cannot be read: {error.strerror}; {remedy}") from error
    except OSError as error:
        raise StateError(f"{name}: cannot be read: {error.strerror}") from error
    if not form.startswith(FORM + b" "):
        raise StateError(f"{name}: is not a state of a wait predictor; write one by WaitPredictor.save")
    if form != FORM + b" %d\n" % VERSION:
        said = form.removeprefix(FORM).strip().decode(errors="replace")
        raise StateError(f"{name}: version {said:.20}, and this swftools reads {VERSION}: replay the logs again")
    if hashlib.sha256(content).hexdigest().encode() + b"\n" != checksum:
        raise StateError(f"{name}: truncated or damaged: its checksum differs; restore it, or replay the logs again")
    try:
        line, _, bodies = content.partition(b"\n")
        about = json.loads(line)
        _check_about(about)
        told = about.pop(NAMES, {})
        names = {kind: {int(number): name for number, name in each.items()} for kind, each in told.items()}
        groups: dict[str, tuple[Columns, bytes]] = {}
        begin = 0
        for group in about.pop("groups"):
            end = begin + _length(group["bytes"])
            columns = [(str(name), DTYPES[kind], _length(count)) for name, kind, count in group["arrays"]]
            groups[str(group["label"])] = columns, bodies[begin:end]
            begin = end
    except (*_WRONG, RecursionError) as error:
        raise _not_ours(name, error) from error
    return SavedState(name, about, groups, names)


def _not_ours(name: str, reason: object) -> StateError:
    """Return the error about a file that is sound, and not of our making."""
    return StateError(f"{name}: is not what this swftools writes: {reason}; replay the logs again")


def _length(count: object) -> int:
    """Return a length; refuse what is none, before anything is made of it."""
    if not is_whole(count, 0, MOST_LENGTH):
        raise ValueError(f"a length of {count!r:.40}")
    return count  # type: ignore[return-value]


def _decompressed(content: bytes, size: int) -> bytes:
    """Return what a group's bytes hold; refuse other lengths than its arrays have, before there is room for them."""
    if size > max(MOST_BYTES, MOST_TIMES * len(content)):
        raise ValueError(f"{size:,} bytes of {len(content):,} compressed ones")
    stream = zstd.ZstdDecompressor()
    raw = stream.decompress(content, size + 1)
    if len(raw) != size:
        raise ValueError(f"arrays of {size:,} bytes, of which {len(raw):,} are there")
    return raw


def _check_about(about: Any) -> None:
    """Refuse what does not say about a predictor what it must."""
    is_so = isinstance(about, dict) and set(about) - {NAMES, PENDING} == ABOUT
    if not is_so or not (
        isinstance(about["method"], str | None)
        and isinstance(about["name"], str)
        and isinstance(about["by"], list)
        and all(isinstance(name, str) for name in about["by"])
        and (about["start"] is None or is_whole(about["start"], -MOST_LENGTH, MOST_LENGTH))
        and isinstance(about["parameters"], dict)
        and isinstance(about["groups"], list)
        and _are_names(about.get(NAMES, {}))
        and isinstance(about.get(PENDING, []), list)
    ):
        raise ValueError(f"about the predictor it says {about!r:.200}")


def _are_names(names: Any) -> bool:
    """Whether these are names by kind and number."""
    return isinstance(names, dict) and all(
        isinstance(each, dict) and all(isinstance(name, str) for name in each.values()) for each in names.values()
    )


def _refuse_more(arrays: Mapping[str, Array]) -> None:
    """Refuse arrays that nobody took."""
    if arrays:
        raise ValueError(f"it has {', '.join(arrays)} too")


def _named(part: Any, name: str) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of a tuple of arrays, or of such tuples, by name."""
    if isinstance(part, tuple):
        for field, inner in zip(part._fields, part, strict=True):  # type: ignore[attr-defined]  # all of ours have names
            yield from _named(inner, f"{name}/{field}" if name else field)
    else:
        yield name, part


def _bytes_of(name: str, array: Array) -> bytes:
    """Return an array as it stands in a file."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array)  # a NaN may have a sign, by which processor made it
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return (np.diff(array.view("<i8"), prepend=0) if _is_in_steps(name) else array).tobytes()


def _arrays(columns: Columns, content: bytes) -> dict[str, Array]:
    """Return the arrays that stand in a text one behind the other."""
    arrays: dict[str, Array] = {}
    begin = 0
    for name, kind, count in columns:
        arrays[name] = np.frombuffer(content, kind, count, begin)
        begin += arrays[name].nbytes
        if _is_in_steps(name):
            arrays[name] = np.cumsum(arrays[name].view("<i8")).view(kind)
    return arrays


def _is_in_steps(name: str) -> bool:
    """Whether an array is saved as differences."""
    return name.rpartition("/")[2] in IN_STEPS


def _remade(form: Any, name: str, arrays: dict[str, Array]) -> Any:
    """Return a tuple of the form of another, of the arrays that have its names, which are taken out."""
    if isinstance(form, tuple):
        fields = zip(form._fields, form, strict=True)  # type: ignore[attr-defined]
        return type(form)(*(_remade(inner, f"{name}/{field}" if name else field, arrays) for field, inner in fields))
    array = arrays.pop(name)
    if array.dtype != form.dtype or (len(form) == 1 and len(array) != 1):
        raise ValueError(f"{name} is of {array.dtype}, {len(array)} numbers")
    return array
