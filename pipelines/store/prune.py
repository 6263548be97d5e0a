# SPDX-License-Identifier: BSD-3-Clause
"""What may go from a data root and a work root, and its removal.

A plan is looked at, then carried out. Nothing that `latest` or a tag names is ever in it, and whatever goes is out of
sight at once: a run that is killed while it removes leaves no half of a version, only what the next plan takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, overload

from pipelines.names import TAGS, is_name
from pipelines.store.data_root import DataRoot
from pipelines.store.local import LocalStorage
from pipelines.store.published import PublishedVersion
from pipelines.store.storage import ABANDONED_AFTER, Storage
from pipelines.store.tags import tags_by_version
from swftools.errors import ParameterError

_KEY = re.compile(r"[0-9a-f]{16}([0-9a-f]{48})?")
"""The name of a stage's output: a content key, or a log's whole hash."""
_DOWNLOADS = "downloads"


class Removal(NamedTuple):
    """One thing that can go: its path or URI, its size, and why nobody needs it."""

    path: str
    bytes: int
    why: str


@dataclass(frozen=True)
class PrunePlan(Sequence[Removal]):
    """Things that can go, to be looked at and to be given to ``carry_out``."""

    storage: Storage
    root: DataRoot | None
    """Where versions are removed from; None for a work root."""
    versions: tuple[tuple[str, str], ...]
    """Data set and version of the first removals."""
    keys: tuple[str, ...]
    """Keys of the other removals."""
    removals: tuple[Removal, ...]
    tagged: tuple[tuple[str, str], ...] = ()
    """Data set and version of what would be a removal, had it no tag."""

    @overload
    def __getitem__(self, index: int) -> Removal: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Removal]: ...
    def __getitem__(self, index: int | slice) -> Removal | Sequence[Removal]:
        """Return one removal, or several."""
        return self.removals[index]

    def __len__(self) -> int:
        return len(self.removals)


def plan_prune(root: DataRoot, data_set: str | None = None, keep: int = 1) -> PrunePlan:
    """Find versions to remove (not latest, not tagged, not among the newest), and remains of broken publications.

    Parameters
    ----------
    root : DataRoot
        Where the data sets are published.
    data_set : str, optional
        Name of a data set; by default all.
    keep : int
        How many of a data set's newest versions to keep, besides those that `latest` and tags name. Damaged versions
        do not count, and are removed unless `latest` or a tag names them. If `latest` names no existing version, one is
        kept anyway.

    Returns
    -------
    PrunePlan
        A sequence of `Removal`, (path, bytes, why).

    Raises
    ------
    VersionNotFoundError
        Nothing is published under that name.
    ParameterError
        `keep` is below 0.
    StorageError
        The root cannot be read, or a pointer to the latest version, or a tag, is damaged.
    """
    if keep < 0:
        raise ParameterError(f"keep={keep}: give the number of versions to keep, 0 or more")
    versions: list[tuple[str, str]] = []
    tagged: list[tuple[str, str]] = []
    removals: list[Removal] = []
    for name in [data_set] if data_set else root.data_sets():
        listing = root.versions(name)
        tags = tags_by_version(root.storage, name)
        for listed, why in _superseded(listing, keep):
            if listed.version in tags:
                tagged.append((name, listed.version))
                continue
            # `latest` may be about to move to a version that has only just appeared.
            is_young = listed.published_at > datetime.now(UTC) - ABANDONED_AFTER
            if root.is_published(name, listed.version) or not is_young:
                versions.append((name, listed.version))
                removals.append(_removal(root.storage, f"{name}/{listed.version}", why))
    storage = root.storage
    places = [data_set] if data_set else [name for name in storage.directories() if is_name(name)]
    tag_places = [storage.check_inside(f"{name}/{TAGS}") for name in places]
    keys = [key for place in ("", *places, *tag_places) for key in storage.left_overs(place)]
    removals += [_removal(storage, key, "left by a publication or removal that came to no end") for key in keys]
    return PrunePlan(storage, root, tuple(versions), tuple(keys), tuple(removals), tuple(tagged))


def plan_prune_work(work_root: Path) -> PrunePlan:
    """Find the outputs of stages under a work root: a cache, which the next run makes again.

    Parameters
    ----------
    work_root : Path
        Such as ``<data root>/.work``; it need not exist. Only what has the form of a stage's output is found there:
        ``<stage>/<content key>``, and the downloads. Do not remove it during a run: the run would fail.

    Returns
    -------
    PrunePlan
        A sequence of `Removal`, (path, bytes, why).

    Raises
    ------
    StorageError
        The directory cannot be read.
    """
    storage = LocalStorage(work_root)
    keys: list[str] = []
    removals: list[Removal] = []
    for stage in storage.directories():
        if stage == _DOWNLOADS:
            found = {stage: "downloads that came to no end: begun anew when needed"}
        else:
            found = {
                f"{stage}/{name}": f"output of stage {stage}: made again when needed"
                for name in storage.directories(stage)
                if _KEY.fullmatch(name)
            }
            found |= dict.fromkeys(storage.left_overs(stage), "left by a stage that came to no end")
        keys += found
        removals += [_removal(storage, key, why) for key, why in found.items()]
    left = storage.left_overs("")
    removals += [_removal(storage, key, "left by a run that came to no end") for key in left]
    return PrunePlan(storage, None, (), (*keys, *left), tuple(removals))


def carry_out(plan: PrunePlan) -> None:
    """Remove what a plan lists; it is safe to run again after a failure, or together with another.

    Raises
    ------
    StorageError
        Something could not be removed, or a version has become the latest since the plan was made.
    """
    if plan.root and plan.versions:
        plan.root.withdraw(plan.versions)
    for key in plan.keys:
        plan.storage.withdraw(key)


def _superseded(versions: list[PublishedVersion], keep: int) -> Iterator[tuple[PublishedVersion, str]]:
    """Yield the versions of a data set that can go, and why; they are given newest first."""
    sound = [listed.version for listed in versions if listed.damage is None]
    latest = next((listed.version for listed in versions if listed.is_latest), None)
    kept = set(sound[: keep if latest else max(keep, 1)]) | {latest}
    for listed in versions:
        if listed.version not in kept:
            yield (
                listed,
                (
                    f"damaged manifest ({listed.damage})"
                    if listed.damage
                    else f"not the latest, nor of the newest {keep}"
                ),
            )


def _removal(storage: Storage, key: str, why: str) -> Removal:
    """Return what is shown of something that can go."""
    return Removal(storage.address(key), sum(storage.files(key).values()), why)
