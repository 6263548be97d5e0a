# SPDX-License-Identifier: BSD-3-Clause
"""``python -m swftools``: the console script ``swftools``, which its entry point names, as nothing here imports it."""

import sys
from importlib.metadata import entry_points

if __name__ == "__main__":
    (script,) = set(entry_points(group="console_scripts", name="swftools"))
    sys.exit(script.load()(prog_name="swftools"))
