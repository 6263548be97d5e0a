# SPDX-License-Identifier: BSD-3-Clause
"""Lines of one file that say the same of the same job: one counts, the others are copies of it."""

from __future__ import annotations

from dataclasses import replace

from swftools.history.records import FileRecords

_GIVEN = ("line_number", "record_key")
_COUNTED = ("job_number", "preceding_job_number", "think_time")
"""What readers of accounting logs number, or follows from that."""


def without_copies(file: FileRecords) -> tuple[FileRecords, int]:
    """Return the records of a file but for copies of earlier ones, and how many these were.

    Jobs whose ids are withheld are no copies, however alike: an array has many of them.
    """
    records = file.records
    given = _GIVEN if file.is_numbered else (*_GIVEN, *_COUNTED)
    said = [name for name in records.columns if name not in given]
    is_copy = records.duplicated(said).to_numpy(dtype=bool)
    if not file.is_numbered:
        is_copy = is_copy & records["log_id"].notna().to_numpy(dtype=bool)
    if not is_copy.any():
        return file, 0
    return replace(file, records=records[~is_copy].reset_index(drop=True)), int(is_copy.sum())
