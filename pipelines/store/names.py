# SPDX-License-Identifier: BSD-3-Clause
"""The names behind the numbers of a published version: of queues, users and others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.store.published import PublishedData
from swftools.header import SwfHeader
from swftools.named import Known, names_by_kind
from swftools.tables import empty_frame, to_pandas


def published_names(root: PublishedData, manifest: Mapping[str, Any]) -> Known:
    """Return the names of a version whose manifest is known: those of its table names, else those of its header."""
    table = "names"
    has = table in manifest["tables"]
    names = to_pandas(root.read_described(manifest, table), table) if has else empty_frame(table)
    return names_by_kind(names, SwfHeader.from_lines(manifest.get("header", [])))
