# SPDX-License-Identifier: BSD-3-Clause
"""Why users wait: how long, who, and for what, of what a log tells and of what a policy would have done."""

from swftools.waits.groups import GROUPINGS
from swftools.waits.study import Part, WaitStudy, study_parts, study_waits

__all__ = ["GROUPINGS", "Part", "WaitStudy", "study_parts", "study_waits"]
