# SPDX-License-Identifier: BSD-3-Clause
"""Which tests are nearest to a source file: by name, by what they import, and by the room that they stand in."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOMS = ("swftools", "pipelines")
OTHERS = {"benchmark", "mutants", "naive", "reference"}
"""Folders of tests that are no tests of a room."""

CORPUS = ("swftools/formats/", "tests/corpus")
"""The small inputs of all readers, which are tests of each of them and import none."""


def sources(root: Path) -> list[str]:
    """Return the files that may be changed, as paths from the top: all but empty ones."""
    found = [path for room in ROOMS for path in (root / room).rglob("*.py") if path.stat().st_size > 100]
    return sorted(path.relative_to(root).as_posix() for path in found)


def room_of(root: Path, source: str) -> str:
    """Return the folder of the tests of a file, or the nearest above it that there is."""
    parts = Path(source).parts
    folder = Path("tests", *(parts if parts[0] == "pipelines" else parts[1:])).parent
    while not any((root / folder).glob("test_*.py")) and folder != Path("tests"):
        folder = folder.parent
    return folder.as_posix()


def nearest(root: Path, source: str) -> list[list[str]]:
    """Return the files of tests that are nearest to a file: those by name, those by import, those of its room.

    Each stands once, where it is nearest. Of the room there are only the files of the folder itself, or of the folders
    in it where it has none. Readers of logs have the corpus last.
    """
    module = source.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    words = set(Path(source).stem.split("_")) - {""}
    tests = [path for path in (root / "tests").rglob("test_*.py") if not OTHERS & set(path.parts)]
    room = room_of(root, source)
    by_name = [path for path in tests if words <= set(path.stem.split("_")) and _is_near(root, path, room)]
    names = [name.encode() for name in module.split(".")]
    by_import = [path for path in tests if all(name in _text(path) for name in names) and module in _imported(path)]
    inside = list((root / room).glob("test_*.py"))
    of_room = inside if room != "tests" else [path for path in tests if path.parent == root / "tests"]
    seen: set[Path] = set()
    found = []
    corpus = list((root / CORPUS[1]).glob("test_*.py")) if source.startswith(CORPUS[0]) else []
    for group in (by_name, by_import, of_room, corpus):
        new = sorted(set(group) - seen)
        seen |= set(new)
        found.append([path.relative_to(root).as_posix() for path in new])
    return [group for group in found if group]


def _is_near(root: Path, test: Path, room: str) -> bool:
    """Whether a file of tests is in a room or above it."""
    folder = root / room
    return folder in test.parents or test.parent in folder.parents


@cache
def _text(test: Path) -> bytes:
    return test.read_bytes()


@cache
def _imported(test: Path) -> frozenset[str]:
    """Return the modules that a file of tests imports from, and what it imports of them, with dots."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(_text(test))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return frozenset(found)
