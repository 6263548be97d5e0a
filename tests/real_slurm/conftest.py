# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm for all tests of this folder, and one for a module; they are passed over where none can be started."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real_slurm.cluster import Slurm, running_slurm, what_is_missing


def _slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    if missing := what_is_missing():
        pytest.skip(missing)
    with running_slurm(tmp_path_factory.mktemp("slurm") / "own") as running:
        yield running


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """A Slurm of sixteen processors that all tests share: jobs of others may wait in it."""
    yield from _slurm(tmp_path_factory)


@pytest.fixture(scope="module")
def own_slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """Another one, in which nobody else's jobs wait."""
    yield from _slurm(tmp_path_factory)
