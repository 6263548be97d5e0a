# SPDX-License-Identifier: BSD-3-Clause
"""Where the repository begins, and where the published values are that tests compare with."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
REFERENCES = ROOT / "tests" / "reference"
VERSION = "?" * 16
"""What matches the folder of any version, and not the link ``current``."""
