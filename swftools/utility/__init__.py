# SPDX-License-Identifier: BSD-3-Clause
"""Utility functions of jobs (Lee 2009): the functions, their text in SWF, and the model that draws them."""
