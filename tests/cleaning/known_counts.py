# SPDX-License-Identifier: BSD-3-Clause
"""How many odd jobs the logs have, counted from their text without this package (grep and awk)."""

FLAGGED = ("cancelled", "never-started", "missing-run-time", "run-over-request")
COUNTS = {
    "SDSC-BLUE-2000-4.2-cln": (243_306, 0, (47_718, 10_742, 2, 23_434)),
    "CTC-SP2-1996-3.1-cln": (77_222, 0, (0, 0, 0, 7_174)),
    "SDSC-DS-2004-2.1-cln": (96_069, 0, (29_319, 11_018, 6, 10_658)),
    "SDSC-SP2-1998-4.2-cln": (59_715, 0, (16_598, 5_671, 0, 4_134)),
    "KTH-SP2-1996-2.1-cln": (28_475, 1, (0, 0, 0, 475)),
    "SDSC-BLUE-2000-4.2-cln-5000-9999": (5_000, 0, (1_283, 216, 0, 320)),
}
"""Jobs kept, jobs without processors, and jobs marked by each rule of ``FLAGGED``."""
