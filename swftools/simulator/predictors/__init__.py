# SPDX-License-Identifier: BSD-3-Clause
"""The predictors: one file each; importing this package registers them all."""

import swftools.simulator.predictors.exact
import swftools.simulator.predictors.gradient_boosting
import swftools.simulator.predictors.last_model
import swftools.simulator.predictors.request
import swftools.simulator.predictors.tightened
import swftools.simulator.predictors.user_average
import swftools.simulator.predictors.virtual  # noqa: F401 (imported for what they register)
