# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the pipeline share: an emulated S3."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import luigi  # noqa: F401 (imported where there is no luigi.cfg, as in a test's folder, it warns, and warnings are errors)
import pytest
from pyarrow import fs

BUCKET = "published-traces"


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Serve S3 on a free port of loopback."""
    moto = pytest.importorskip("moto.server")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fs.S3FileSystem:
    """Make an empty bucket, and an environment in which it is the only one that can be reached."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("SWFTOOLS_WORK_ROOT", str(tmp_path / "work"))
    s3 = fs.S3FileSystem(endpoint_override=server, allow_bucket_creation=True, allow_bucket_deletion=True)
    s3.create_dir(BUCKET)
    s3.delete_dir_contents(BUCKET)
    return s3
