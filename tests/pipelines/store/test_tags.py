# SPDX-License-Identifier: BSD-3-Clause
"""Tags: names for versions that stand wherever a version is asked for, and keep it from being removed."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

from pipelines.names import TAGS
from pipelines.store.data_root import DataRoot
from pipelines.store.local import LocalStorage
from pipelines.store.prune import carry_out, plan_prune
from pipelines.store.storage import Storage
from pipelines.store.tags import Tag
from swftools.errors import ParameterError, StorageError, UnsafeNameError, VersionNotFoundError
from tests.pipelines.conftest import BUCKET
from tests.pipelines.killed import PROCESSES, Full, killed_at_every_step
from tests.pipelines.store.samples import contents, date, publish, staged


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Name the directory of a data root that does not exist yet."""
    return tmp_path / "data"


def filled(location: Any) -> DataRoot:
    """Publish v1 to v3, the last of which is the latest, with 1 to 3 jobs."""
    root = DataRoot.open(location)
    for rows, version in enumerate(("v1", "v2", "v3"), start=1):
        publish(root, version, rows=rows)
    return root


@pytest.fixture
def root(place: Path) -> DataRoot:
    """Publish three versions on successive days."""
    root = filled(place)
    date(place, "v1", "v2", "v3")
    return root


@pytest.fixture(params=["here", pytest.param("s3", marks=pytest.mark.slow)])
def anywhere(request: pytest.FixtureRequest, place: Path) -> DataRoot:
    """The same in a directory and on S3."""
    if request.param == "here":
        return filled(place)
    request.getfixturevalue("bucket")
    return filled(f"s3://{BUCKET}/some/prefix")


ASKS: dict[str, Callable[[DataRoot, str], Any]] = {
    "resolve": lambda root, version: root.resolve("sdsc", version),
    "path": lambda root, version: root.path("sdsc", version).rpartition("/")[2],
    "manifest": lambda root, version: root.manifest("sdsc", version)["version"],
    "promote": lambda root, version: root.promote("sdsc", version),
    "rollback": lambda root, version: root.rollback("sdsc", version),
    "tag": lambda root, version: root.tag("sdsc", version, "another"),
    "read_table": lambda root, version: f"v{root.read_table('sdsc', 'jobs', version).num_rows}",
    "verify": lambda root, version: "v1" if root.verify("sdsc", version) == [] else "damaged",
}


def test_a_tag_stands_for_its_version(root: DataRoot) -> None:
    """Wherever a version is taken; where the version is gone, or the tag is damaged, that is one clear error."""
    root.tag("sdsc", "v1", "paper-2026")
    for name, ask in ASKS.items():
        assert "v1" == ask(root, "paper-2026"), name
        root.promote("sdsc", "v3")
    shutil.rmtree(root.path("sdsc", "v1"))
    gone = r"tag 'paper-2026' of data set 'sdsc' names v1, which is not there"
    for ask in ASKS.values():
        with pytest.raises(VersionNotFoundError, match=gone):
            ask(root, "paper-2026")
    Path(root.location, "sdsc", TAGS, "paper-2026").write_text("../v2\n")
    damaged = rf"{root.location}/sdsc/.tags/paper-2026: names no version \('../v2'\); delete the tag by"
    for ask in ASKS.values():
        with pytest.raises(StorageError, match=damaged):
            ask(root, "paper-2026")
    assert "v3" == ASKS["read_table"](root, "v3")


def test_a_tag_on_s3(bucket: fs.S3FileSystem) -> None:
    """It is an object beside the versions; it keeps its version, and goes where it is told to."""
    root = DataRoot.open(f"s3://{BUCKET}/some/prefix")
    for version in ("v1", "v2"):
        publish(root, version)
    root.tag("sdsc", "v1", "paper")
    assert b"v1\n" == root.storage.read("sdsc/.tags/paper")
    assert ("v1", ["sdsc"]) == (root.resolve("sdsc", "paper"), root.data_sets())
    with pytest.raises(ParameterError, match=r"the tag names v1"):
        root.tag("sdsc", "v2", "paper")
    plan = plan_prune(root, "sdsc")
    assert ((), (("sdsc", "v1"),)) == (plan.versions, plan.tagged)
    with pytest.raises(StorageError, match=r"sdsc/v1 has the tag 'paper'"):
        root.withdraw([("sdsc", "v1")])
    root.tag("sdsc", "v2", "paper", force=True)
    assert [Tag("paper", "v2")] == root.tags("sdsc")
    root.remove_tag("sdsc", "paper")
    assert [] == root.tags("sdsc")


def test_tags_are_listed_moved_and_deleted(anywhere: DataRoot) -> None:
    """A tag names one version for good unless it is forced to another; a version may have several."""
    root = anywhere
    assert [] == root.tags("sdsc")
    assert "v3" == root.tag("sdsc", "latest", "paper")
    assert "v3" == root.tag("sdsc", "v3", "paper") == root.tag("sdsc", "paper", "Again")
    assert [Tag("Again", "v3"), Tag("paper", "v3")] == root.tags("sdsc")
    listed = {each.version: each.tags for each in root.versions("sdsc")}
    assert {"v3": ("Again", "paper"), "v2": (), "v1": ()} == listed
    with pytest.raises(ParameterError, match=r"sdsc/.tags/paper: the tag names v3; choose another, or move it by"):
        root.tag("sdsc", "v1", "paper")
    assert "v3" == root.resolve("sdsc", "paper")
    root.tag("sdsc", "v1", "paper", force=True)
    assert "v1" == root.resolve("sdsc", "paper")
    root.remove_tag("sdsc", "Again")
    assert [Tag("paper", "v1")] == root.tags("sdsc")
    with pytest.raises(VersionNotFoundError, match=r"'sdsc' has no tag 'Again'; it has paper"):
        root.remove_tag("sdsc", "Again")
    with pytest.raises(VersionNotFoundError, match=r"no version 'Again'; it has v1, v2, v3"):
        root.resolve("sdsc", "Again")


def test_tags_are_hidden_from_plain_readers(anywhere: DataRoot) -> None:
    """They are no data set and no version, and what is published is what it was."""
    root = anywhere
    before = {key: root.storage.read(key) for key in root.storage.files("")}
    root.tag("sdsc", "v1", "paper")
    assert ["sdsc"] == root.data_sets()
    assert {"v1", "v2", "v3"} == {each.version for each in root.versions("sdsc")}
    after = {key: root.storage.read(key) for key in root.storage.files("")}
    assert before | {"sdsc/.tags/paper": b"v1\n"} == after
    publish(root, "v4")
    assert "v1" == root.resolve("sdsc", "paper")


def test_unsafe_names_are_refused(root: DataRoot, place: Path) -> None:
    """A tag is a name like any other; none can leave its directory."""
    before = contents(place)
    for name in ("", "..", "../x", "a/b", ".hidden", "a b", "latest", "LATEST", "x" * 129):
        with pytest.raises(UnsafeNameError, match=r"tag '"):
            root.tag("sdsc", "v1", name)
        with pytest.raises(UnsafeNameError, match=r"tag '"):
            root.remove_tag("sdsc", name)
    assert before == contents(place)


def test_what_cannot_be_tagged(root: DataRoot, place: Path) -> None:
    """Unknown and damaged versions have no tag, and no tag is called as a version is."""
    before = contents(place)
    with pytest.raises(VersionNotFoundError, match=r"no version 'v9'"):
        root.tag("sdsc", "v9", "paper")
    with pytest.raises(ParameterError, match=r"tag 'v2': data set 'sdsc' has a version of that name; choose another"):
        root.tag("sdsc", "v1", "v2")
    assert before == contents(place)
    Path(root.path("sdsc", "v1"), "manifest.json").write_text("{")
    with pytest.raises(StorageError, match=r"v1/manifest.json: damaged manifest"):
        root.tag("sdsc", "v1", "paper")


def test_what_a_name_means_first(root: DataRoot) -> None:
    """A whole name means its version, then a tag its own, then a beginning the one that begins so."""
    publish(root, "5186082a")
    publish(root, "5186ffff")
    root.tag("sdsc", "5186082a", "5186ff")
    assert "5186082a" == root.resolve("sdsc", "5186ff")
    assert "5186ffff" == root.resolve("sdsc", "5186f")
    publish(root, "5186ff")
    assert "5186ff" == root.resolve("sdsc", "5186ff") == root.path("sdsc", "5186ff").rpartition("/")[2]


# What stays


def test_a_tagged_version_is_not_pruned(anywhere: DataRoot) -> None:
    """It is kept beside those that are kept anyhow, which the plan tells; without its tag it goes."""
    root = anywhere
    root.tag("sdsc", "v1", "paper")
    root.tag("sdsc", "v3", "newest")
    plan = plan_prune(root, "sdsc")
    assert ((("sdsc", "v2"),), (("sdsc", "v1"),)) == (plan.versions, plan.tagged)
    carry_out(plan)
    assert ["v1", "v3"] == sorted(each.version for each in root.versions("sdsc"))
    assert [] == root.verify("sdsc", "paper")
    root.remove_tag("sdsc", "paper")
    assert (("sdsc", "v1"),) == plan_prune(root, "sdsc").versions


def test_a_damaged_version_stays_for_its_tag(root: DataRoot) -> None:
    """What is damaged goes by itself, but not what somebody wanted to keep."""
    root.tag("sdsc", "v1", "paper")
    Path(root.path("sdsc", "v1"), "manifest.json").write_text("{")
    assert ((("sdsc", "v2"),), (("sdsc", "v1"),)) == (plan_prune(root).versions, plan_prune(root).tagged)


def test_withdrawing_a_tagged_version_is_refused(anywhere: DataRoot) -> None:
    """Also where it was tagged after the plan was made; the catalogue names it again."""
    root = anywhere
    plan = plan_prune(root, "sdsc")
    root.tag("sdsc", "v1", "paper")
    with pytest.raises(StorageError, match=r"sdsc/v1 has the tag 'paper'; delete that first by `swftools tag --delete"):
        carry_out(plan)
    assert "v1" in {each.version for each in root.versions("sdsc")}
    assert b"sdsc@v1.jobs" in root.storage.read("catalog.yaml")


@pytest.mark.parametrize(
    "content",
    [
        *(b"../v1\n", b"\xff\xfe"),
        *(pytest.param(each, marks=pytest.mark.slow) for each in (b"", b"\n", b"v1 and v2\n", b"latest\n")),
    ],
)
def test_a_damaged_tag_keeps_everything(root: DataRoot, place: Path, content: bytes) -> None:
    """It is not known what it protects: nothing of its data set goes before it is mended; the rest works."""
    publish(root, "w1", data_set="ctc")
    publish(root, "w2", data_set="ctc")
    plan = plan_prune(root, "sdsc")
    root.tag("sdsc", "v1", "paper")
    (place / "sdsc" / TAGS / "paper").write_bytes(content)
    for attempt in (lambda: plan_prune(root, "sdsc"), lambda: carry_out(plan), lambda: plan_prune(root)):
        with pytest.raises(StorageError, match=r"sdsc/.tags/paper: names no version .*`swftools tag --delete sdsc pap"):
            attempt()
    assert 3 == len(root.versions("sdsc"))
    assert (("ctc", "w1"),) == plan_prune(root, "ctc").versions
    (tag,) = root.tags("sdsc")
    assert ("paper", None) == (tag.name, tag.version)
    publish(root, "v4")
    assert "v4" == root.read_table("sdsc", "jobs").schema.metadata[b"version"].decode()
    with pytest.raises(StorageError, match=r"names no version"):
        root.tag("sdsc", "v1", "paper")
    root.tag("sdsc", "v1", "paper", force=True)
    assert "v1" == root.resolve("sdsc", "paper")
    (place / "sdsc" / TAGS / "paper").write_bytes(content)
    root.remove_tag("sdsc", "paper")
    assert [] == root.tags("sdsc")


def test_a_tag_of_what_is_gone_breaks_nothing_else(root: DataRoot) -> None:
    """It is still listed, and pruning, publishing and reading go on."""
    root.tag("sdsc", "v1", "paper")
    shutil.rmtree(root.path("sdsc", "v1"))
    assert [Tag("paper", "v1")] == root.tags("sdsc")
    assert ["v3", "v2"] == [each.version for each in root.versions("sdsc")]
    assert (("sdsc", "v2"),) == plan_prune(root).versions
    publish(root, "v4")
    publish(root, "v1")
    assert "v1" == root.resolve("sdsc", "paper")


# Links, other files, full disks


def test_links_out_of_the_root_are_refused(root: DataRoot, place: Path, tmp_path: Path) -> None:
    """Neither a tag nor their directory is read or written through a link; pruning waits until it is gone."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "paper").write_text("v1\n")
    (outside / ".staging" / "x-elsewhere-7-abcd").mkdir(parents=True)
    (place / "sdsc" / TAGS).symlink_to(outside)
    before = contents(outside)
    for attempt in (lambda: root.tag("sdsc", "v1", "new"), lambda: root.resolve("sdsc", "paper")):
        with pytest.raises(UnsafeNameError, match=r"leads out of the data root"):
            attempt()
    for attempt in (lambda: plan_prune(root), lambda: root.withdraw([("sdsc", "v1")])):
        with pytest.raises(StorageError, match=r"leads out of the data root, to .*; remove the symbolic link"):
            attempt()
    assert 3 == len(root.versions("sdsc"))
    assert before == contents(outside)

    (place / "sdsc" / TAGS).unlink()
    (place / "sdsc" / TAGS).mkdir()
    (place / "sdsc" / TAGS / "paper").symlink_to(outside / "paper")
    with pytest.raises(UnsafeNameError, match=r"leads out of the data root"):
        root.tag("sdsc", "v1", "paper", force=True)
    (tag,) = root.tags("sdsc")
    assert tag.damage is not None
    assert "leads out of the data root" in tag.damage
    with pytest.raises(StorageError, match=r"leads out of the data root"):
        plan_prune(root)
    assert before == contents(outside)


def test_other_files_beside_the_tags_are_none(root: DataRoot, place: Path) -> None:
    """What cannot be the name of a tag is no tag; a directory in a tag's place is an error."""
    root.tag("sdsc", "v1", "paper")
    (place / "sdsc" / TAGS / "paper~").write_text("notes")
    (place / "sdsc" / TAGS / ".hidden").write_text("notes")
    (place / "sdsc" / TAGS / "taken" / "x").mkdir(parents=True)
    assert [Tag("paper", "v1")] == root.tags("sdsc")
    with pytest.raises(StorageError, match=r".tags/taken: was deleted meanwhile, or is not a file; look there"):
        root.tag("sdsc", "v1", "taken")


def test_a_file_system_without_hard_links(root: DataRoot, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tag is made all the same, and is not moved unless forced."""

    def refuse(*args: Any, **options: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    root.tag("sdsc", "v1", "paper")
    with pytest.raises(ParameterError, match=r"the tag names v1"):
        root.tag("sdsc", "v2", "paper")
    assert b"v1\n" == (place / "sdsc" / TAGS / "paper").read_bytes()
    assert [] == staged(place)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc for a descriptor's path")
@pytest.mark.parametrize("has_links", [True, False])
def test_a_tag_is_on_disk_when_it_is_said_to_be_given(
    root: DataRoot, place: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    """Its text is synced before it has its name, or else under that name; the directory that lists it after."""
    root.tag("sdsc", "v1", "another")
    events: list[tuple[str, str]] = []
    fsync, link = os.fsync, os.link

    def note_sync(descriptor: int) -> None:
        fsync(descriptor)
        events.append(("sync", str(Path(f"/proc/self/fd/{descriptor}").readlink())))

    def note_link(source: Any, target: Any, **options: Any) -> None:
        if not has_links:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        link(source, target, **options)
        events.append(("link", str(source)))

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "link", note_link)
    root.tag("sdsc", "v1", "paper")
    assert ("sync", str(place / "sdsc" / TAGS)) == events[-1]
    if has_links:
        named = next(number for number, event in enumerate(events) if event[0] == "link")
        assert ("sync", events[named][1]) in events[:named]
    else:
        assert ("sync", str(place / "sdsc" / TAGS / "paper")) in events


@pytest.mark.parametrize("name", ["fsync", "mkdir", "link", "open"])
def test_full_disk_at_every_step(root: DataRoot, place: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it fails, one error names path and remedy, and there is the whole tag or none."""
    whole = place.parent / "whole"
    shutil.copytree(place, whole, symlinks=True)
    with monkeypatch.context() as patch:
        patch.setattr(os, name, counting := Full(name, 0))
        DataRoot.open(whole).tag("sdsc", "v1", "paper")
    assert counting.calls
    for step in range(1, counting.calls + 1):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, Full(name, step))
            with pytest.raises(StorageError, match=r"sdsc/.*No space left on device.*; free space and run again$"):
                root.tag("sdsc", "v1", "paper")
        assert [] == staged(place)
        assert root.tags("sdsc") in ([], [Tag("paper", "v1")])
        shutil.rmtree(place / "sdsc" / TAGS, ignore_errors=True)


def tag_paper(root: DataRoot) -> None:
    """Tag a version."""
    root.tag("sdsc", "v1", "paper")


def move_paper(root: DataRoot) -> None:
    """Move the tag to another version."""
    root.tag("sdsc", "v2", "paper", force=True)


@pytest.mark.slow
def test_killed_at_every_step(root: DataRoot, place: Path, tmp_path: Path) -> None:
    """Wherever whoever tags is killed, the tag is the old one or the new, and what is left is swept."""
    work, seen = tmp_path / "work", []
    for act, before, after in ((tag_paper, None, "v1"), (move_paper, "v1", "v2")):
        if before:
            root.tag("sdsc", before, "paper")
        for _ in killed_at_every_step(act, place, work):
            left = DataRoot.open(work)
            named = [tag.version for tag in left.tags("sdsc")]
            assert named in ([before] if before else [], [after])
            seen.append(named)
            assert (len(named) if act is tag_paper else 1) == len(plan_prune(left, "sdsc", 1).tagged)
            carry_out(plan_prune(left, "sdsc", 3))
            assert [] == staged(work)
            act(left)
            assert [Tag("paper", after)] == left.tags("sdsc")
    assert {(), ("v1",), ("v2",)} == set(map(tuple, seen))


# Two at once


def give(barrier: Any, results: Any, place: Path, runner: int) -> None:
    """Give the same tags to another version than the other runners, each at the same moment as they."""
    root = DataRoot.open(place)
    for round_ in range(10):
        barrier.wait(60)
        try:
            root.tag("sdsc", f"v{runner}", f"tag{round_}")
        except ParameterError:
            continue
        results.put((f"tag{round_}", f"v{runner}"))


def test_of_several_who_give_a_tag_one_has_given_it(root: DataRoot, place: Path) -> None:
    """The others are told; nobody's tag is moved in silence."""
    barrier, results = PROCESSES.Barrier(3), PROCESSES.Queue()
    runners = [PROCESSES.Process(target=give, args=(barrier, results, place, i)) for i in (1, 2, 3)]
    for runner in runners:
        runner.start()
    said = dict(results.get(timeout=120) for _ in range(10))
    for runner in runners:
        runner.join()
    assert [0, 0, 0] == [runner.exitcode for runner in runners]
    assert results.empty()
    assert said == {tag.name: tag.version for tag in root.tags("sdsc")}
    assert {f"tag{round_}" for round_ in range(10)} == said.keys()
    assert [] == staged(place)


@pytest.mark.parametrize("force", [False, True])
def test_a_version_removed_while_it_is_tagged(root: DataRoot, monkeypatch: pytest.MonkeyPatch, force: bool) -> None:
    """Whoever tags is told, and no tag is left that names nothing."""
    for name in ("create", "replace"):
        original: Callable[..., Any] = getattr(LocalStorage, name)

        def remove_first(self: Storage, key: str, content: bytes, original: Callable[..., Any] = original) -> Any:
            if TAGS in key and Path(root.location, "sdsc", "v1").exists():
                DataRoot.open(root.location).withdraw([("sdsc", "v1")])
            return original(self, key, content)

        monkeypatch.setattr(LocalStorage, name, remove_first)
    with pytest.raises(VersionNotFoundError, match=r"sdsc/v1: was removed while it was being tagged"):
        root.tag("sdsc", "v1", "paper", force=force)
    assert [] == root.tags("sdsc")


def test_a_tag_deleted_while_tags_are_listed(root: DataRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is just not there any more."""
    root.tag("sdsc", "v1", "paper")
    original = LocalStorage.read

    def delete_first(self: LocalStorage, key: str) -> bytes:
        if TAGS in key:
            DataRoot.open(root.location).storage.remove(key)
        return original(self, key)

    monkeypatch.setattr(LocalStorage, "read", delete_first)
    assert [] == root.tags("sdsc")
