# SPDX-License-Identifier: BSD-3-Clause
"""Imported by the process that others are forked from: all that a night needs is loaded, and kernels too."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.pipelines.history.nights import Site, days

with tempfile.TemporaryDirectory() as _folder:
    _site = Site(Path(_folder))
    _site.put("log.swf", days(1)[0])
    _site.night()
