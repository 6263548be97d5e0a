# SPDX-License-Identifier: BSD-3-Clause
"""Questions asked of runs: who delays whom, which policy would do better, what were if some jobs were not there."""
