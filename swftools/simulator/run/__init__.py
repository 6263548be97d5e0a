# SPDX-License-Identifier: BSD-3-Clause
"""What drives a run: the engine called and stopped, a predictor in Python asked, jobs taken out."""
