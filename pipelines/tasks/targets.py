# SPDX-License-Identifier: BSD-3-Clause
"""Targets: outputs of stages that appear whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import luigi

from pipelines.store.data_root import DataRoot
from pipelines.store.staging import unchecked_staging
from swftools.errors import StorageError, SwfToolsError
from swftools.output.whole_files import remedy_of


class DirectoryTarget(luigi.Target):
    """A directory ``<work root>/<stage>/<key>``, filled in the work root's staging area, that appears by one rename.

    Two runs may fill it at once; the first to finish wins, and the other's equal output is dropped.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        """Whether the directory has appeared, and was not emptied to free space."""
        return self.path.is_dir() and any(self.path.iterdir())

    @contextmanager
    def fill(self) -> Iterator[Path]:
        """Give a directory to write to; on success it takes its place, on failure it is removed.

        Raises
        ------
        StorageError
            Writing failed, such as on a full disk.
        """
        try:
            # Where all stages do, so that whichever runs next sweeps what a killed one left.
            with unchecked_staging(self.path.parent.parent, self.path.name) as temporary:
                yield temporary
                self.path.parent.mkdir(parents=True, exist_ok=True)
                try:
                    temporary.rename(self.path)
                except OSError:
                    if not self.exists():
                        raise
        except OSError as error:
            if isinstance(error, SwfToolsError):
                raise
            raise StorageError(
                f"{self.path}: {error.strerror or error}; nothing was kept of this stage; {remedy_of(error)}"
            ) from error


class VersionTarget(luigi.Target):
    """A published version of a data set."""

    def __init__(self, root: DataRoot, data_set: str, version: str) -> None:
        self.root, self.data_set, self.version = root, data_set, version

    @property
    def path(self) -> str:
        """Path or URI of the version."""
        return self.root.path(self.data_set, self.version)

    def exists(self) -> bool:
        """Whether the version is published.

        Raises
        ------
        StorageError
            It is, and a file that its manifest names is gone or of another size.
        """
        if not self.root.is_published(self.data_set, self.version):
            return False
        self.root.check_whole(self.data_set, self.version)
        return True

    def is_settled(self) -> bool:
        """Whether ``latest`` of its data set names a version that is there."""
        return self.root.is_settled(self.data_set)
