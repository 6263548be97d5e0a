# SPDX-License-Identifier: BSD-3-Clause
"""The console script ``swftools``: thin commands over the functions of swftools and the tasks of pipelines."""
