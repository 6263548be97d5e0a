# SPDX-License-Identifier: BSD-3-Clause
"""A data root on S3: files go under their final keys, the manifest last and on condition that there is none."""

from __future__ import annotations

import hashlib
import io
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import boto3
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.loaders import create_loader
from botocore.session import get_session

from pipelines.names import MANIFEST, PENDING, is_name
from pipelines.store.staging import unchecked_staging
from pipelines.store.storage import ABANDONED_AFTER, Storage, storage_errors
from swftools.errors import ParameterError, StorageError

_FORM = "give s3://bucket/prefix"
_REMEDY = "check endpoint, region, bucket and credentials and run again"
_OPTIONS = ("region", "scheme", "endpoint_override")
_PIECE = 1 << 23
"""Bytes read or sent at once."""
_TRANSFER = TransferConfig(multipart_threshold=_PIECE, multipart_chunksize=_PIECE, max_concurrency=4)
_CONFIG = Config(connect_timeout=10, retries={"mode": "standard", "total_max_attempts": 4})
_ATTEMPTS = 5
_AT_ONCE = 8
_CONFLICT = "ConditionalRequestConflict"
_ABSENT = ("404", "NoSuchKey", "NotFound")


class S3Storage(Storage):
    """Files under a prefix of a bucket.

    The manifest is put on condition that there is none (``If-None-Match: *``), so that of several publishers of a
    version exactly one makes it. Two that upload at once write the same bytes under the same keys.
    """

    def __init__(self, location: str) -> None:
        self._bucket, self._prefix, self._options = _parse(location)
        _, mark, query = location.partition("?")
        super().__init__(f"s3://{'/'.join(filter(None, (self._bucket, self._prefix)))}{mark}{query}")
        self._owner: int | None = None
        self._connection: Any = None

    def address(self, key: str = "") -> str:
        """Return the URI of a key, without credentials or query."""
        return "/".join(filter(None, (f"s3://{self._bucket}", self._prefix, key)))

    @contextmanager
    def scratch(self, directory: str, label: str) -> Iterator[Path]:  # noqa: ARG002 (that of the interface)
        """Give an empty directory below the work root; sweep those of dead processes."""
        # Whoever only reads needs no settings.
        from pipelines.config import work_root  # noqa: PLC0415

        with unchecked_staging(work_root(self.location), label) as path:
            yield path

    def commit(self, staged: Path, key: str, shared: Mapping[str, str] = MappingProxyType({})) -> bool:
        """Upload a directory of files, the manifest last; its marker first, which tells left-overs from other files.

        Shared files are copied by the service, so that they take space again but no time on the way.
        """
        names = {path.relative_to(staged).as_posix() for path in staged.rglob("*") if path.is_file()}
        for name in [PENDING, *sorted(names - {PENDING, MANIFEST})]:
            # Asked each time, so that a version is hardly ever written over while it is being published twice.
            if self.exists(f"{key}/{MANIFEST}"):
                return False
            with self._errors():
                self._s3.upload_file(str(staged / name), self._bucket, self._key(f"{key}/{name}"), Config=_TRANSFER)
        with self._errors(), ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda name: self._copy(shared[name], f"{key}/{name}"), shared))
        return self._create(f"{key}/{MANIFEST}", (staged / MANIFEST).read_bytes())

    def _copy(self, source: str, target: str) -> None:
        """Let the service copy an object."""
        self._s3.copy({"Bucket": self._bucket, "Key": self._key(source)}, self._bucket, self._key(target))

    def withdraw(self, key: str) -> None:
        """Remove the manifest, upon which there is no version any more, then the rest, the marker last."""
        names = self.files(key)
        if names:
            self.replace(f"{key}/{PENDING}", b"")
        for name in [MANIFEST, *(name for name in names if name not in (MANIFEST, PENDING)), PENDING]:
            self.remove(f"{key}/{name}")

    def left_overs(self, directory: str) -> list[str]:
        """Return the keys below a directory that hold an old marker and no manifest."""
        names = self.directories(directory) if directory else []
        keys = [f"{directory}/{name}" for name in names if is_name(name)]
        manifests = self.modified(f"{key}/{MANIFEST}" for key in keys)
        markers = self.modified(f"{key}/{PENDING}" for key in keys)
        limit = datetime.now(UTC) - ABANDONED_AFTER
        return [
            key
            for key, manifest, marker in zip(keys, manifests, markers, strict=True)
            if manifest is None and marker is not None and marker < limit
        ]

    def replace(self, key: str, content: bytes) -> None:
        """Put one object, which S3 does at once or not at all."""
        with self._errors(f"{self.address(key)}: cannot be written"):
            self._s3.put_object(Bucket=self._bucket, Key=self._key(key), Body=content)

    def create(self, key: str, content: bytes) -> bool:
        """Put one object unless there is one; return whether it is ours."""
        with storage_errors(f"{self.address(key)}: cannot be written"):
            return self._create(key, content)

    def exchange(self, key: str, old: bytes | None, new: bytes) -> bool:
        """Put one object on condition that the one there is still that with the old content, or that there is none."""
        place = {"Bucket": self._bucket, "Key": self._key(key)}
        condition = {"IfNoneMatch": "*"}
        with self._errors(f"{self.address(key)}: cannot be written"):
            if old is not None:
                try:
                    answer = self._s3.get_object(**place)
                except ClientError as error:
                    if error.response["Error"]["Code"] in _ABSENT:
                        return False
                    raise
                if answer["Body"].read() != old:
                    return False
                condition = {"IfMatch": answer["ETag"]}
            try:
                self._s3.put_object(**place, Body=new, **condition)
            except ClientError as error:
                if error.response["Error"]["Code"] in (*_ABSENT, "PreconditionFailed", "412", _CONFLICT, "409"):
                    # An answer lost on the way makes the client ask again, and find its own object there.
                    return self.exists(key) and self.read(key) == new
                raise
        return True

    def link(self, key: str, name: str) -> None:
        """Do nothing: S3 has no links."""

    def linked(self, key: str) -> str | None:  # noqa: ARG002
        """Return None: S3 has no links."""
        return None

    def modified(self, keys: Iterable[str]) -> list[datetime | None]:
        """Return the UTC time of each file's last change, None where there is no such file."""
        found = self._heads(keys)
        return [None if head is None else head["LastModified"].astimezone(UTC) for head in found]

    def fingerprints(self, keys: Iterable[str]) -> list[str | None]:
        """Return a text for each file that is another one if its content is, None where there is no such file."""
        wanted = list(keys)
        tags = [None if head is None else head["ETag"].strip('"') for head in self._heads(wanted)]
        # What was sent in pieces has a tag that tells of the pieces.
        return [_md5(self.read(key)) if tag and "-" in tag else tag for key, tag in zip(wanted, tags, strict=True)]

    def directories(self, key: str = "") -> list[str]:
        """Return the sorted names of the directories in a directory, none if it does not exist."""
        top = self._top(key)
        with self._errors(f"{self.address(key)}: cannot be listed"):
            pages = list(self._pages(Prefix=top, Delimiter="/"))
        found = (common["Prefix"] for page in pages for common in page.get("CommonPrefixes", []))
        return sorted(path.removeprefix(top).rstrip("/") for path in found)

    def files(self, key: str) -> dict[str, int]:
        """Return the bytes of all files in and below a directory by sorted path relative to it."""
        top = self._top(key)
        with self._errors(f"{self.address(key)}: cannot be listed"):
            objects = [found for page in self._pages(Prefix=top) for found in page.get("Contents", [])]
        # Some tools mark directories by empty objects.
        sizes = {found["Key"].removeprefix(top): found["Size"] for found in objects if not found["Key"].endswith("/")}
        return dict(sorted(sizes.items()))

    def stamps(self, key: str) -> dict[str, tuple[str, int]]:
        """Return tag, size and time of each object in a directory, and that time."""
        top = self._top(key)
        with self._errors(f"{self.address(key)}: cannot be listed"):
            objects = [found for page in self._pages(Prefix=top, Delimiter="/") for found in page.get("Contents", [])]
        return {
            found["Key"].removeprefix(top): (
                f"{found['ETag']}-{found['Size']}-{found['LastModified'].isoformat()}",
                int(found["LastModified"].timestamp() * 1e9),
            )
            for found in objects
            if not found["Key"].endswith("/")
        }

    @contextmanager
    def open(self, key: str) -> Iterator[BufferedReader]:
        """Open a file for reading, random access included.

        Raises
        ------
        StorageError
            The file is absent or unreadable.
        """
        with self._errors(f"{self.address(key)}: cannot be read"):
            size = self._s3.head_object(Bucket=self._bucket, Key=self._key(key))["ContentLength"]
            yield BufferedReader(_Ranges(self._s3, self._bucket, self._key(key), size), _PIECE)

    def read(self, key: str) -> bytes:
        """Return a small file's content: in one request, since its size need not be known."""
        with self._errors(f"{self.address(key)}: cannot be read"):
            return bytes(self._s3.get_object(Bucket=self._bucket, Key=self._key(key))["Body"].read())

    def remove(self, key: str) -> None:
        """Delete a file; it is not a mistake if another process was faster."""
        with self._errors(f"{self.address(key)}: cannot be removed"):
            self._s3.delete_object(Bucket=self._bucket, Key=self._key(key))

    @property
    def _s3(self) -> Any:
        """The client; one that a process inherited would share its connections with the parent."""
        if self._owner != os.getpid():
            session = _session()
            self._owner, self._connection = os.getpid(), session.client("s3", config=_CONFIG, **self._options)
        return self._connection

    def _key(self, key: str) -> str:
        return f"{self._prefix}/{key}" if self._prefix else key

    def _top(self, key: str) -> str:
        """Return what the keys in and below a directory begin with."""
        path = self._key(key).strip("/")
        return f"{path}/" if path else ""

    def _pages(self, **options: str) -> Iterator[dict[str, Any]]:
        pages: Iterator[dict[str, Any]] = iter(
            self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, **options)
        )
        return pages

    def _heads(self, keys: Iterable[str]) -> list[dict[str, Any] | None]:
        """Return what S3 says of each object, None where there is none."""
        wanted = list(keys)
        with self._errors(f"{self.address()}: cannot be read"):
            if len(wanted) == 1:
                return [self._head(wanted[0])]
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                return list(pool.map(self._head, wanted))

    def _head(self, key: str) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = self._s3.head_object(Bucket=self._bucket, Key=self._key(key))
        except ClientError as error:
            if error.response["Error"]["Code"] in _ABSENT:
                return None
            raise
        return found

    def _create(self, key: str, content: bytes) -> bool:
        """Put one object unless there is one; return whether it is ours."""
        mine = {"publisher": secrets.token_hex(8)}
        place = {"Bucket": self._bucket, "Key": self._key(key)}
        with self._errors():
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    self._s3.put_object(**place, Body=content, IfNoneMatch="*", Metadata=mine)
                except ClientError as error:
                    code = error.response["Error"]["Code"]
                    if code in ("PreconditionFailed", "412"):
                        # An answer lost on the way makes the client ask again, and find its own object there.
                        return bool(self._s3.head_object(**place)["Metadata"] == mine)
                    # Another one is being put at this moment; which of them holds is known only when asked again.
                    if code not in (_CONFLICT, "409") or attempt == _ATTEMPTS:
                        raise
                else:
                    break
        return True

    @contextmanager
    def _errors(self, what: str = "") -> Iterator[None]:
        """Turn the client's errors into one StorageError: what happened, cause and remedy."""
        start = f"{what}: " if what else ""
        try:
            yield
        except ClientError as error:
            answer = error.response["Error"]
            cause = f"{error.operation_name} was answered with {answer.get('Code')}: {answer.get('Message')}"
            raise StorageError(f"{start}{_flat(cause)}; {_REMEDY}") from None
        except (BotoCoreError, Boto3Error) as error:
            raise StorageError(f"{start}{_flat(str(error))}; {_REMEDY}") from None


@cache
def _service_models(folder: str | None) -> Any:
    """Return what reads the descriptions of services, and keeps them: that of S3 is a megabyte of JSON."""
    return create_loader(folder)


def _session() -> boto3.session.Session:
    """Return a session by the settings of now, which reads no description that was read in this process before."""
    settings = get_session()
    models = _service_models(settings.get_config_variable("data_path"))
    places = list(models.search_paths)
    settings.register_component("data_loader", models)
    session = boto3.session.Session(botocore_session=settings)
    models.search_paths[:] = places  # each session adds one, of descriptions that are of no use here
    return session


class _Ranges(io.RawIOBase):
    """An object as a file that is read where it is read."""

    def __init__(self, s3: Any, bucket: str, key: str, size: int) -> None:
        self._s3, self._place, self._size, self._position = s3, {"Bucket": bucket, "Key": key}, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = start + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        end = min(self._position + len(buffer), self._size)
        if self._position >= end:
            return 0
        answer = self._s3.get_object(**self._place, Range=f"bytes={self._position}-{end - 1}")
        content = answer["Body"].read()
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)


def _parse(location: str) -> tuple[str, str, dict[str, str]]:
    """Return bucket, prefix and the client's options of ``s3://[key:secret@]bucket/prefix[?option=value&...]``.

    Raises
    ------
    ParameterError
        It has another form; the message repeats no credentials.
    """
    shown = re.sub(r"(?<=://)[^/@]*@", "", location)
    try:
        parts = urlsplit(location)
        query = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError as error:
        raise ParameterError(f"data root {shown!r}: {error}; {_FORM}") from None
    _, _, bucket = parts.netloc.rpartition("@")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]+", bucket):
        raise ParameterError(f"data root {shown!r} names no bucket; {_FORM}")
    prefix = parts.path.strip("/")
    if parts.fragment or not re.fullmatch(r"[A-Za-z0-9._~/+=@,:!-]*", prefix) or "//" in prefix:
        raise ParameterError(f"data root {shown!r}: use letters, digits and ._~+=@,:!- between slashes; {_FORM}")
    if unknown := sorted(set(query) - set(_OPTIONS)):
        raise ParameterError(f"data root {shown!r}: unknown option {unknown[0]!r}, known are {_OPTIONS}; {_FORM}")
    options = {"region_name": query["region"]} if "region" in query else {}
    if "endpoint_override" in query:
        host = query["endpoint_override"]
        options["endpoint_url"] = host if "://" in host else f"{query.get('scheme', 'https')}://{host}"
    if parts.username and parts.password:
        options |= {"aws_access_key_id": parts.username, "aws_secret_access_key": parts.password}
    return bucket, prefix, options


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def _flat(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())
