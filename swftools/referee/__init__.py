# SPDX-License-Identifier: BSD-3-Clause
"""A policy held against a real run, decision by decision."""
