# SPDX-License-Identifier: BSD-3-Clause
"""Every door that opens a file of settings: what is no such file is refused at once, and read no further."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.catalog.reader import read_catalog
from pipelines.cli.sites_file import read_sites
from pipelines.experiments.file import read_experiment
from pipelines.history.settings import read_settings
from pipelines.tasks.parameters import ParametersParameter
from swftools.checkpoints.survey import read_commented_csv
from swftools.energy import read_rates
from swftools.errors import SwfToolsError
from swftools.formats.slurm.queue_snapshot import read_squeue
from swftools.formats.swf.machines import read_machines
from swftools.formats.tables.mapping import MappedTable
from swftools.parameters.small_files import hash_of_file, read_small_file, require_small

DOORS: dict[str, Callable[[str], object]] = {
    "catalogue": read_catalog,
    "settings": read_settings,
    "experiment": read_experiment,
    "sites": read_sites,
    "parameters": ParametersParameter().normalize,
    "mapping": lambda path: MappedTable(mapping=path).mapped,
}
TEXTS: dict[str, Callable[[str], object]] = {
    "rates": read_rates,
    "queue": read_squeue,
    "machines": read_machines,
    "survey": lambda path: read_commented_csv(path, "a survey"),
}
BOMB = "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*{'a' if not n else f'b{n - 1}'}, *a]\n" for n in range(30))


def refusal(read: Callable[[str], object], path: str) -> str:
    """Return what is said of a file."""
    with pytest.raises(SwfToolsError) as caught:
        read(path)
    return str(caught.value)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("content", "told"), [(BOMB, "line 1: .*anchor or alias 'a'"), ("[" * 3000, "levels of nesting")]
)
def test_what_grows_or_goes_deep(door: str, content: str, told: str, tmp_path: Path) -> None:
    """Aliases are refused before anything is made of them, and so is deep nesting; a short line says it."""
    path = tmp_path / "settings.yaml"
    path.write_text(content)
    said = refusal(DOORS[door], str(path))
    assert re.search(told, said), said
    assert len(said) < 500


@pytest.mark.parametrize("door", [*DOORS, *TEXTS])
@pytest.mark.parametrize("kind", ["large", "endless", "folder", "absent"])
def test_what_is_no_file_of_settings(door: str, kind: str, tmp_path: Path) -> None:
    """A log of 20 GB, a device that never ends, a folder, nothing: no more than the limit is read."""
    path: Path = tmp_path / "settings.yaml"
    if kind == "large":
        path.touch()
        os.truncate(path, 20 << 30)
    elif kind == "folder":
        path.mkdir()
    elif kind == "endless":
        path = Path("/dev/zero")
    said = refusal((DOORS | TEXTS)[door], str(path))
    wanted = {"large": "21,474,836,480 bytes", "folder": "directory", "absent": "such file"}
    assert wanted.get(kind, "more than" if "a device" not in said else "a device") in said
    assert len(said) < 500


def test_a_pipe_is_a_file() -> None:
    """As of a shell's <(command); it is read to its end, and not beyond the limit."""

    def through(data: bytes, read: Callable[[str], Any]) -> Any:
        end, begin = os.pipe()
        writer = threading.Thread(target=lambda: (os.write(begin, data), os.close(begin)))
        writer.start()
        try:
            return read(f"/dev/fd/{end}")
        finally:
            writer.join()
            os.close(end)

    assert through(b"history: mine\n", read_settings).history == "mine"
    with pytest.raises(OSError, match="more than 10 bytes: is this the right file"):
        through(b"x" * 11, lambda path: read_small_file(path, 10))
    assert through(b"x" * 10, lambda path: read_small_file(path, 10)) == b"x" * 10
    through(b"x", require_small)


def test_sizes(tmp_path: Path) -> None:
    """The limit is the last size that is read."""
    path = tmp_path / "x"
    path.write_bytes(b"x" * 10)
    assert read_small_file(path, 10) == b"x" * 10
    require_small(path, 10)
    for read in (read_small_file, require_small):
        with pytest.raises(OSError, match="10 bytes, more than 9 bytes"):
            read(path, 9)
    assert hash_of_file(path) == hashlib.sha256(b"x" * 10).hexdigest()
    with pytest.raises(OSError, match="not a plain file"):
        hash_of_file("/dev/zero")
