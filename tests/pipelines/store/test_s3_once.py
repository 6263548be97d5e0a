# SPDX-License-Identifier: BSD-3-Clause
"""Publication to S3 by several at once, by forked workers, with lost answers or wrong credentials, and pruning."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pyarrow.parquet as pq
import pytest
import requests
from botocore.exceptions import ClientError
from pyarrow import fs

from pipelines.names import CATALOG, CATALOG_NOTES, MANIFEST, PENDING
from pipelines.store import s3
from pipelines.store.data_root import DataRoot
from pipelines.store.prune import carry_out, plan_prune
from pipelines.store.s3 import S3Storage
from swftools.errors import ParameterError, StorageError
from tests.pipelines.conftest import BUCKET
from tests.pipelines.luigi_runs import LUIGI, run
from tests.pipelines.store.samples import as_published, jobs, publish

LOG = "; UnixStartTime: 956700003\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"


@pytest.fixture
def root(bucket: fs.S3FileSystem) -> DataRoot:
    """Open an empty data root below a prefix."""
    return DataRoot.open(f"s3://{BUCKET}/some/prefix")


def keys() -> set[str]:
    """Return the keys of all objects below the prefix."""
    found = boto3.client("s3").list_objects_v2(Bucket=BUCKET, Prefix="some/prefix/").get("Contents", [])
    return {each["Key"].removeprefix("some/prefix/") for each in found}


class Hooked:
    """A client that does something else at some of its calls."""

    def __init__(self, client: Any, name: str, act: Callable[..., Any]) -> None:
        self.client, self.name, self.act = client, name, act

    def __getattr__(self, name: str) -> Any:
        original = getattr(self.client, name)
        if name != self.name:
            return original
        return lambda *args, **options: self.act(original, *args, **options)


def hook(root: DataRoot, name: str, act: Callable[..., Any]) -> None:
    """Let a data root's client act otherwise when it is asked for something."""
    storage = root.storage
    assert isinstance(storage, S3Storage)
    storage._connection = Hooked(storage._s3, name, act)


def refusal(code: str) -> ClientError:
    """Make the error of an answer that refuses."""
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "PutObject")


@pytest.mark.slow
def test_of_six_at_once_one_is_told_that_it_is_new(root: DataRoot) -> None:
    """Six publishers who have all uploaded put the manifest at one moment; one of them made the version, each time."""
    ready = threading.Barrier(6)

    def wait_for_all(original: Callable[..., Any], **options: Any) -> Any:
        if options["Key"].endswith(MANIFEST):
            ready.wait(30)
        return original(**options)

    for version in ("v1", "v2", "v3"):
        made: list[bool] = []

        def publish_too(version: str = version, made: list[bool] = made) -> None:
            rival = DataRoot.open(root.location)
            hook(rival, "put_object", wait_for_all)
            made.append(publish(rival, version).is_new)

        threads = [threading.Thread(target=publish_too) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [False] * 5 + [True] == sorted(made)
        assert (version, True, []) == (
            root.latest("sdsc"), root.is_published("sdsc", version), root.verify("sdsc", version)
        )  # fmt: skip


def test_an_answer_that_was_lost_is_not_taken_for_a_rival(root: DataRoot) -> None:
    """A client that asks again, since the answer never came, finds its own manifest there: the version is its own."""

    def lose_the_answer(original: Callable[..., Any], **options: Any) -> Any:
        original(**options)
        return original(**options)

    hook(root, "put_object", lose_the_answer)
    assert publish(root, "v1").is_new


def test_a_conflict_is_asked_again(root: DataRoot) -> None:
    """While another put of the same manifest is under way, S3 answers with a conflict; the next try tells."""
    left = [1, 2, 3]

    def conflict(original: Callable[..., Any], **options: Any) -> Any:
        if "IfNoneMatch" in options and left:
            left.pop()
            raise refusal("ConditionalRequestConflict")
        return original(**options)

    hook(root, "put_object", conflict)
    assert publish(root, "v1").is_new
    left += range(99)
    with pytest.raises(StorageError, match=r"v2: nothing was published: PutObject .*ConditionalRequestConflict"):
        publish(root, "v2")
    assert ["v1"] == [listed.version for listed in root.versions("sdsc")]


def test_a_service_without_conditions_is_an_error(root: DataRoot) -> None:
    """A service that cannot put on condition says so, and nothing is published."""

    def refuse(original: Callable[..., Any], **options: Any) -> Any:
        if "IfNoneMatch" in options:
            raise refusal("NotImplemented")
        return original(**options)

    hook(root, "put_object", refuse)
    with pytest.raises(StorageError, match=r"v1: nothing was published: .*NotImplemented"):
        publish(root, "v1")
    assert [] == root.data_sets()


@pytest.fixture
def guarded(bucket: fs.S3FileSystem, server: str) -> Iterator[None]:
    """Let the emulation check who asks."""
    requests.post(f"{server}/moto-api/reset-auth", data="0", timeout=30)
    yield
    requests.post(f"{server}/moto-api/reset-auth", data="inf", timeout=30)


@pytest.mark.usefixtures("guarded")
def test_wrong_credentials(bucket: fs.S3FileSystem) -> None:
    """Credentials that the service does not know are one error with path, cause and remedy, on reading and writing."""
    root = DataRoot.open(f"s3://{BUCKET}/x")
    with pytest.raises(StorageError, match=r"v1: nothing was published: .*40[13].*check .*credentials and run again$"):
        publish(root, "v1")
    with pytest.raises(StorageError, match=r"cannot be listed: .*InvalidAccessKeyId.*check .*credentials"):
        root.data_sets()


def test_without_credentials(bucket: fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where no credentials are found at all, that is what the error says."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    with pytest.raises(StorageError, match=r"nothing was published: .*Unable to locate credentials; check"):
        publish(DataRoot.open(f"s3://{BUCKET}/x"), "v1")


def test_credentials_and_region_from_the_usual_files(
    root: DataRoot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A profile of ~/.aws is used as by any other tool of that service."""
    (tmp_path / "credentials").write_text("[mine]\naws_access_key_id = a\naws_secret_access_key = b\n")
    (tmp_path / "config").write_text("[profile mine]\nregion = eu-central-1\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_PROFILE", "mine")
    assert publish(root, "v1").is_new
    storage = root.storage
    assert isinstance(storage, S3Storage)
    assert "eu-central-1" == storage._s3.meta.region_name


@pytest.mark.parametrize(
    "location",
    ["s3://b", "s3://-x/y", "s3://bucket-name/a//b", "s3://bucket-name/a%20b", "s3://bucket-name/a#b",
     "s3://bucket-name/x?region", "s3://[bucket/x"],
)  # fmt: skip
def test_addresses_that_other_readers_would_take_otherwise_are_refused(location: str) -> None:
    """A prefix must mean the same objects to whoever reads it."""
    with pytest.raises(ParameterError, match=r"give s3://bucket/prefix"):
        DataRoot.open(location)


def test_large_tables_are_read_in_pieces(root: DataRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file larger than what is asked for at once comes back whole, from any place in it."""
    monkeypatch.setattr(s3, "_PIECE", 1000)
    publish(root, "v1", rows=5000)
    assert jobs(5000).equals(as_published(root), check_metadata=True)
    assert [] == root.verify("sdsc")
    with root.storage.open("sdsc/v1/jobs/part-0.parquet") as file:
        whole = file.read()
        assert len(whole) > 5000
        assert file.read() == b""
        for offset, whence, place in ((7, io.SEEK_SET, 7), (-2500, io.SEEK_END, len(whole) - 2500)):
            file.seek(offset, whence)
            assert (whole[place : place + 2000], place + 2000) == (file.read(2000), file.tell())
            file.seek(100, io.SEEK_CUR)
            assert whole[place + 2100 :] == file.read()
    assert 5000 == pq.ParquetFile(io.BytesIO(whole)).metadata.num_rows


def test_what_is_staged_lies_in_the_work_root(root: DataRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing goes through the system's temporary directory; the next publication sweeps what a killed one left."""
    monkeypatch.setattr("tempfile.mkdtemp", lambda *args, **options: pytest.fail("staged elsewhere"))
    with root.storage.scratch("sdsc", "v0") as scratch:
        area = tmp_path / "work" / ".staging"
        assert area == scratch.parent
        left = area / f"v0-{scratch.name.split('-')[1]}-{2**22 + 1}-0a1b"
        left.mkdir()
    publish(root, "v1")
    assert [] == list(area.iterdir())


def test_descriptions_of_services_are_read_once(root: DataRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another root in the process has a client of its own, by the settings of then, which reads none of them again."""
    assert [] == root.data_sets()
    first = root.storage
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "another")
    monkeypatch.setattr("botocore.loaders.JSONFileLoader.load_file", lambda *_: pytest.fail("read again"))
    other = DataRoot.open(root.location)
    assert [] == other.data_sets()
    second = other.storage
    assert isinstance(first, S3Storage)
    assert isinstance(second, S3Storage)
    assert first._s3 is not second._s3
    assert ("us-east-1", "eu-central-1") == (first._s3.meta.region_name, second._s3.meta.region_name)
    keys = [each._s3._request_signer._credentials.access_key for each in (first, second)]
    assert ["testing", "another"] == keys


def test_a_forked_worker_publishes(root: DataRoot) -> None:
    """A process forked after its parent has used the service uses it too, on connections of its own."""
    publish(root, "v1")
    storage = root.storage
    assert isinstance(storage, S3Storage)
    before = storage._s3
    pid = os.getpid()
    try:
        # What a forked child would see, without forking a process whose threads serve the emulation.
        storage._owner = pid + 1
        assert publish(root, "v2").is_new
        assert storage._s3 is not before
    finally:
        storage._owner = pid


@pytest.mark.slow
def test_luigi_workers_publish(bucket: fs.S3FileSystem, server: str, tmp_path: Path) -> None:
    """Several workers, which luigi forks after it has asked S3 what is complete, end as one worker does."""
    (tmp_path / "tiny.swf").write_text(LOG)
    flags = ["--BuildAugmentedTrace-log", "tiny.swf", "--workers", "2", "--data-root", f"s3://{BUCKET}/some/prefix"]
    built = run([*LUIGI, "BuildAugmentedTrace", *flags], tmp_path, SWFTOOLS_WORK_ROOT=str(tmp_path / "work"))
    assert 0 == built.returncode, built.stderr
    root = DataRoot.open(f"s3://{BUCKET}/some/prefix")
    assert [] == root.verify("tiny")


# Pruning


@pytest.fixture
def pruned(root: DataRoot) -> DataRoot:
    """Publish v1 to v3, the second of which is the latest."""
    for version in ("v1", "v2", "v3"):
        publish(root, version)
    root.rollback("sdsc", "v2")
    return root


def versions(root: DataRoot) -> set[str]:
    """Return the names of a data set's versions."""
    return {listed.version for listed in root.versions("sdsc")}


def test_pruning(pruned: DataRoot) -> None:
    """What neither latest nor the newest need goes without a trace, and the catalogue does not name it."""
    plan = plan_prune(pruned, keep=0)
    assert {f"s3://{BUCKET}/some/prefix/sdsc/{version}" for version in ("v1", "v3")} == {path for path, _, _ in plan}
    assert all(size > 1000 for _, size, _ in plan)
    carry_out(plan)
    assert {"v2"} == versions(pruned)
    assert {"sdsc/v2", "sdsc/latest", CATALOG, CATALOG_NOTES} == {"/".join(key.split("/")[:2]) for key in keys()}
    assert b"v1" not in pruned.storage.read(CATALOG)
    assert [] == list(plan_prune(pruned, keep=0))
    (listed,) = pruned.versions("sdsc")
    assert UTC is listed.published_at.tzinfo, "the time of its manifest, as of a directory"
    assert abs(datetime.now(UTC) - listed.published_at) < timedelta(minutes=5)


@pytest.mark.slow
def test_pruning_that_breaks_off(pruned: DataRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the connection is lost, what is seen is whole, and a day later the next plan takes what is left."""
    storage = pruned.storage
    assert isinstance(storage, S3Storage)
    client, calls, stop = storage._s3, 0, 0

    def break_off(original: Callable[..., Any], *args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == stop:
            raise refusal("SlowDown")
        return original(*args, **options)

    broken = 0
    for stop in range(1, 20):
        storage._connection = client
        publish(pruned, "v0")
        pruned.rollback("sdsc", "v2")
        calls = 0
        storage._connection = Hooked(Hooked(client, "delete_object", break_off), "put_object", break_off)
        try:
            storage.withdraw("sdsc/v0")
        except StorageError:
            broken += 1
        storage._connection = client
        assert {"v1", "v2", "v3"} <= versions(pruned) <= {"v0", "v1", "v2", "v3"}
        assert [] == [problem for version in versions(pruned) for problem in pruned.verify("sdsc", version)]
        left = {key for key in keys() if key.startswith("sdsc/v0/")}
        assert not left or f"sdsc/v0/{PENDING}" in left or f"sdsc/v0/{MANIFEST}" in left
        if stop > calls:
            assert set() == left
            break
    else:
        pytest.fail("never came to an end")
    assert 5 == broken  # the marker, the manifest, two tables, the marker


def test_what_a_broken_off_publication_left(root: DataRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects with a marker and no manifest are planned when a day old; objects without a marker are none of ours."""
    publish(root, "v1")
    client = boto3.client("s3")
    for key in (f"sdsc/v9/{PENDING}", "sdsc/v9/jobs/part-0.parquet", "sdsc/notes/text", f"new/v1/{PENDING}"):
        client.put_object(Bucket=BUCKET, Key=f"some/prefix/{key}", Body=b"123")
    assert [] == list(plan_prune(root, keep=3))

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(days=2)

    monkeypatch.setattr(s3, "datetime", Later)
    plan = plan_prune(root, keep=3)
    address = f"s3://{BUCKET}/some/prefix"
    assert [(f"{address}/new/v1", 3), (f"{address}/sdsc/v9", 6)] == [(path, size) for path, size, _ in plan]
    carry_out(plan)
    known = ("sdsc/v1/", "sdsc/latest", CATALOG, CATALOG_NOTES)
    assert {"sdsc/notes/text"} == {key for key in keys() if not key.startswith(known)}
    assert {"v1"} == versions(root)
