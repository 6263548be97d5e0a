# SPDX-License-Identifier: BSD-3-Clause
from .comparison import compare_versions as compare_versions
from .data_root import DataRoot as DataRoot
from .deposit import export_version as export_version
from .prune import carry_out as carry_out
from .prune import plan_prune as plan_prune
from .prune import plan_prune_work as plan_prune_work
