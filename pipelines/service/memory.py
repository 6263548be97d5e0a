# SPDX-License-Identifier: BSD-3-Clause
"""What a cluster knows, beside its journal: after a restart it is read, and only the end of the journal is learnt.

Two files: ``JOURNAL.state`` is the predictor's, ``JOURNAL.memory`` all else and how far the journal was read then. They
can be thrown away at any time: then the whole journal is learnt again. So they are not trusted where anything is
otherwise than it was: the journal, how waits are bounded, the version of swftools, one file without the other.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

from swftools._version import __version__
from swftools.errors import StateError
from swftools.live import LivePredictor, Mark
from swftools.output.whole_files import create_file
from swftools.qbets import WaitPredictor

_LOOKED_AT = 4096
"""Bytes before the mark that must be the same: two journals differ there."""

_WRONG = (OSError, ValueError, TypeError, LookupError, StateError)


class Memory(NamedTuple):
    """What was known when it was written down.

    Parameters
    ----------
    live : LivePredictor
        The predictor.
    mark : Mark
        How far the journal was read.
    told_bytes : int
        How far the file was written of what jobs were told.
    rest : mapping
        All else that the cluster knows.
    """

    live: LivePredictor
    mark: Mark
    told_bytes: int
    rest: dict[str, Any]


def memory_files(journal: Path) -> tuple[Path, Path]:
    """Return where the predictor of a journal is, and all else."""
    return journal.with_name(f"{journal.name}.state"), journal.with_name(f"{journal.name}.memory")


def write_memory(journal: Path, memory: Memory, predictor: WaitPredictor) -> None:
    """Write down what is known.

    Raises
    ------
    StorageError
        It cannot be written: then the whole journal is learnt after a restart.
    """
    state, other = memory_files(journal)
    memory.live.save(state)
    about = {
        "version": __version__,
        "predictor": _about(predictor),
        "state": _digest(state),
        "mark": memory.mark,
        "before": _before(journal, memory.mark.bytes),
        "told_bytes": memory.told_bytes,
        "rest": memory.rest,
    }
    with create_file(other) as file:
        file.write(json.dumps(about, separators=(",", ":")).encode())


def read_memory(journal: Path, predictor: WaitPredictor) -> Memory | None:
    """Return what was written down; None where there is nothing, or anything is otherwise than it was."""
    state, other = memory_files(journal)
    try:
        about = json.loads(other.read_bytes())
        mark = Mark(*map(int, about["mark"]))
        expected = (__version__, _about(predictor), _digest(state), _before(journal, mark.bytes))
        if tuple(about[name] for name in ("version", "predictor", "state", "before")) != expected:
            return None
        return Memory(LivePredictor.load(state), mark, int(about["told_bytes"]), dict(about["rest"]))
    except _WRONG:
        return None


def _about(predictor: WaitPredictor) -> str:
    """Return how waits are bounded, in words."""
    chosen = predictor.parameters.to_mapping()
    return json.dumps([predictor.name, list(predictor.by), predictor.start, chosen], sort_keys=True, default=str)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _before(journal: Path, end: int) -> str:
    """Return what tells a journal by its bytes before one."""
    with journal.open("rb") as file:
        file.seek(max(end - _LOOKED_AT, 0))
        found = file.read(min(end, _LOOKED_AT))
    return f"{len(found)} {hashlib.sha256(found).hexdigest()}"
