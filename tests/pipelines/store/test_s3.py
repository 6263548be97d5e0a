# SPDX-License-Identifier: BSD-3-Clause
"""The publishing store on S3, emulated on loopback: the same promises as on disk, as far as S3 can keep them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from botocore.exceptions import EndpointConnectionError
from pyarrow import fs

from pipelines.names import MANIFEST, PENDING
from pipelines.store.data_root import DataRoot, Publication
from pipelines.store.s3 import S3Storage
from swftools.errors import ParameterError, SchemaError, StorageError, UnsafeNameError, VersionNotFoundError
from tests.pipelines.conftest import BUCKET
from tests.pipelines.store.samples import as_published, jobs
from tests.pipelines.store.samples import contents as local_contents

RECORD = {"licence": "none stated", "parameters": {"seed": 7}}


def publish(root: DataRoot, version: str, rows: int = 3, files: dict[str, Path] | None = None) -> Publication:
    """Publish a small version."""
    return root.publish("sdsc", version, {"jobs": jobs(rows)}, manifest=RECORD, files=files or {})


@pytest.fixture
def root(bucket: fs.S3FileSystem) -> DataRoot:
    """Open an empty data root below a prefix."""
    return DataRoot.open(f"s3://{BUCKET}/some/prefix")


def contents(bucket: fs.S3FileSystem, prefix: str = "some/prefix") -> dict[str, bytes]:
    """Read every object below a prefix."""
    found = bucket.get_file_info(fs.FileSelector(f"{BUCKET}/{prefix}", recursive=True, allow_not_found=True))
    paths = [info.path for info in found if info.type == fs.FileType.File]
    return {path.removeprefix(f"{BUCKET}/{prefix}/"): bucket.open_input_file(path).readall() for path in paths}


def test_publication_equals_the_local_one(root: DataRoot, bucket: fs.S3FileSystem, tmp_path: Path) -> None:
    """Every object has the key and the bytes that the file has under a local root."""
    log = tmp_path / "log"
    log.write_bytes(b"1 0 0 5\n")
    local = DataRoot.open(tmp_path / "data")
    for version in ("v1", "v2"):
        publish(local, version, files={"sdsc.swf.gz": log})
        made = publish(root, version, files={"sdsc.swf.gz": log})
    assert Publication(f"s3://{BUCKET}/some/prefix/sdsc/v2", "v2", is_new=True) == made
    assert local_contents(tmp_path / "data") == contents(bucket)
    assert root.is_published("sdsc", "v2")
    assert [] == root.verify("sdsc", "v1") == root.verify("sdsc", "v2")


def test_a_bucket_may_be_the_root(bucket: fs.S3FileSystem) -> None:
    """A root without a prefix works, with or without a slash."""
    root = DataRoot.open(f"s3://{BUCKET}/")
    publish(root, "v1")
    assert f"s3://{BUCKET}/sdsc/v1" == root.path("sdsc", "v1")
    assert ["sdsc"] == root.data_sets() == DataRoot.open(f"s3://{BUCKET}").data_sets()


def test_endpoint_may_stand_in_the_uri(
    root: DataRoot, server: str, monkeypatch: pytest.MonkeyPatch, bucket: fs.S3FileSystem
) -> None:
    """Without AWS_ENDPOINT_URL, the URI's query gives the endpoint; credentials in it are never shown."""
    publish(root, "v1")
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    query = f"?scheme=http&endpoint_override={server.removeprefix('http://')}&region=us-east-1"
    other = DataRoot.open(f"s3://user:secret@{BUCKET}/some/prefix{query}")
    assert "v1" == other.latest("sdsc")
    assert f"s3://{BUCKET}/some/prefix{query}" == other.location
    assert f"s3://{BUCKET}/some/prefix/sdsc/v1" == other.path("sdsc")


def test_a_version_is_never_rewritten(root: DataRoot, bucket: fs.S3FileSystem) -> None:
    """Publishing an existing version changes no object, nor where `latest` points."""
    publish(root, "v1")
    publish(root, "v2")
    root.rollback("sdsc", "v1")
    before = contents(bucket)
    assert not publish(root, "v2", rows=9).is_new
    assert before == contents(bucket)
    assert "v1" == root.latest("sdsc")


def test_versions_rollback_and_promotion(root: DataRoot) -> None:
    """Versions are listed newest first, even within one second, and the pointer goes back and forth."""
    publish(root, "v2")
    publish(root, "v1", rows=5)
    listed = root.versions("sdsc")
    assert [("v1", 5, True), ("v2", 3, False)] == [(v.version, v.jobs, v.is_latest) for v in listed]
    assert "v2" == root.rollback("sdsc") == root.latest("sdsc")
    assert "v1" == root.promote("sdsc", "v1") == root.latest("sdsc")
    with pytest.raises(VersionNotFoundError, match=r"'sdsc' has no version 'v9'; it has v1, v2 .*`swftools versions`"):
        root.promote("sdsc", "v9")
    with pytest.raises(VersionNotFoundError, match=r"no data set 'ctc'; there are sdsc "):
        root.versions("ctc")


def test_reading(root: DataRoot) -> None:
    """A table comes back as it went; pandas reads it by its URI alone."""
    path = publish(root, "v1").path
    assert jobs().equals(as_published(root), check_metadata=True)
    assert [0.0, 2.5] == pd.read_parquet(f"{path}/jobs")["run_time"].to_list()[:2]


def test_verify_finds_damage(root: DataRoot, bucket: fs.S3FileSystem) -> None:
    """Changed, missing and foreign objects are reported by URI; a damaged table cannot be read."""
    publish(root, "v1")
    assert [] == root.verify("sdsc", "v1")
    place = f"{BUCKET}/some/prefix/sdsc/v1"
    for name in ("part-0", "part-1"):
        with bucket.open_output_stream(f"{place}/jobs/{name}.parquet") as sink:
            sink.write(b"PAR1")
    changed, foreign = root.verify("sdsc", "v1")
    assert changed.startswith(f"s3://{place}/jobs/part-0.parquet: sha256 is ")
    assert f"s3://{place}/jobs/part-1.parquet: not in the manifest" == foreign
    with pytest.raises(SchemaError, match=r"s3://.*part-0.parquet: damaged Parquet file"):
        root.read_table("sdsc", "jobs")
    bucket.delete_file(f"{place}/jobs/part-0.parquet")
    assert f"s3://{place}/jobs/part-0.parquet: missing" == root.verify("sdsc", "v1")[0]


class Broken:
    """A client whose connection is gone from one of its changes on."""

    def __init__(self, client: Any, step: int) -> None:
        self.client, self.step, self.calls = client, step, 0

    def __getattr__(self, name: str) -> Any:
        original = getattr(self.client, name)
        if name not in ("put_object", "upload_file", "delete_object"):
            return original

        def change(*args: Any, **options: Any) -> Any:
            self.calls += 1
            if self.calls >= self.step > 0:
                raise EndpointConnectionError(endpoint_url="http://gone")
            return original(*args, **options)

        return change


@pytest.mark.parametrize("which", ["some", pytest.param("every", marks=pytest.mark.slow)])
def test_connection_lost_at_every_step(which: str, root: DataRoot, bucket: fs.S3FileSystem, tmp_path: Path) -> None:
    """Wherever a publication breaks off, nothing without its manifest is a version, and running again completes it."""
    log = tmp_path / "log"
    log.write_bytes(b"1 0 0 5\n")
    files = {"sdsc.swf.gz": log}
    publish(root, "v1", files=files)
    before = contents(bucket)
    storage = root.storage
    assert isinstance(storage, S3Storage)
    client = storage._s3
    storage._connection = counting = Broken(client, 0)
    publish(root, "v2", files=files)
    whole = contents(bucket)

    outcomes = set()
    steps = range(1, counting.calls + 1)
    for step in steps if which == "every" else (1, steps[-2]):
        storage._connection = client
        bucket.delete_dir_contents(BUCKET)
        for name, content in before.items():
            with bucket.open_output_stream(f"{BUCKET}/some/prefix/{name}", compression=None) as sink:
                sink.write(content)
        storage._connection = Broken(client, step)
        with pytest.raises(StorageError, match=r"Could not connect .*; check endpoint, .*credentials") as caught:
            publish(root, "v2", files=files)

        storage._connection = client
        is_visible = f"sdsc/v2/{MANIFEST}" in contents(bucket)
        assert is_visible == ("nothing was published" not in str(caught.value))
        assert is_visible == ("v2" in [listed.version for listed in root.versions("sdsc")])
        assert not root.is_published("sdsc", "v2")
        assert [] == root.verify("sdsc")
        outcomes.add((is_visible, root.latest("sdsc")))
        assert is_visible != publish(root, "v2", files=files).is_new
        assert whole == contents(bucket)
        assert root.is_published("sdsc", "v2")
    every = {(False, "v1"), (True, "v1"), (True, "v2")}
    assert outcomes == every if which == "every" else len(outcomes & every) == 2


def test_a_version_published_meanwhile_is_not_written_over(
    root: DataRoot, bucket: fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If another process completes the version while this one uploads, this one stops and says it is not new."""
    rival = DataRoot.open(root.location)
    asked = 0
    exists = S3Storage.exists

    def exists_after_rival(self: S3Storage, key: str) -> bool:
        nonlocal asked
        asked += self is root.storage
        if asked == 3 and self is root.storage:
            publish(rival, "v1")
        return exists(self, key)

    monkeypatch.setattr(S3Storage, "exists", exists_after_rival)
    assert not publish(root, "v1", rows=9).is_new
    assert ("v1", [True]) == (root.latest("sdsc"), [v.is_latest for v in root.versions("sdsc")])
    assert PENDING not in {name.rpartition("/")[2] for name in contents(bucket)}


@pytest.mark.parametrize("name", ["../v1", "latest", ""])
def test_unsafe_names_are_refused(root: DataRoot, bucket: fs.S3FileSystem, name: str) -> None:
    """Names are checked on S3 as on disk."""
    with pytest.raises(UnsafeNameError):
        publish(root, name)
    assert {} == contents(bucket)


def test_no_such_bucket(bucket: fs.S3FileSystem) -> None:
    """A bucket that does not exist is not created, and is named in the error."""
    root = DataRoot.open("s3://no-such-bucket-here/x")
    with pytest.raises(
        StorageError, match=r"no-such-bucket-here/x/sdsc/v1: nothing was published: .*NoSuchBucket.*check .*bucket"
    ):
        publish(root, "v1")


def test_service_out_of_reach(bucket: fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that does not answer is one error with path, cause and remedy."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    root = DataRoot.open(f"s3://{BUCKET}/x")
    with pytest.raises(
        StorageError, match=r"v1: nothing was published: .*Could not connect .*127.0.0.1:1.*check endpoint"
    ) as caught:
        publish(root, "v1")
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("location", ["s3://", "s3://user:secret@bucket-name/a b", "s3://bucket-name/x?colour=red"])
def test_invalid_uris_are_refused(bucket: fs.S3FileSystem, location: str) -> None:
    """A malformed URI is a mistake in a parameter, reported without credentials."""
    with pytest.raises(ParameterError, match="give s3://bucket/prefix") as caught:
        DataRoot.open(location)
    assert "secret" not in str(caught.value)
