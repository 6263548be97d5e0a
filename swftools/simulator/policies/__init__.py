# SPDX-License-Identifier: BSD-3-Clause
"""The policies: a file or two of each kind; importing this package registers them all."""

import swftools.simulator.policies.cirne_berman
import swftools.simulator.policies.conservative
import swftools.simulator.policies.easy
import swftools.simulator.policies.easy_in_time
import swftools.simulator.policies.fixed
import swftools.simulator.policies.genetic
import swftools.simulator.policies.genetic_checkpoint
import swftools.simulator.policies.priority_easy
import swftools.simulator.policies.pv_easy
import swftools.simulator.policies.scojo_p
import swftools.simulator.policies.search
import swftools.simulator.policies.slurm
import swftools.simulator.policies.strict  # noqa: F401 (imported for what they register)
