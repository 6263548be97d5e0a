# SPDX-License-Identifier: BSD-3-Clause
"""How good users' estimates of run times are: the requests of any log, and what users say when asked again."""

from swftools.estimates.groups import GROUPINGS
from swftools.estimates.measures import inaccuracy, is_studied, used_shares
from swftools.estimates.study import EstimateStudy, study_estimates

__all__ = ["GROUPINGS", "EstimateStudy", "inaccuracy", "is_studied", "study_estimates", "used_shares"]
