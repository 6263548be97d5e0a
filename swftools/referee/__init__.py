# SPDX-License-Identifier: BSD-3-Clause
"""A policy held against a real run: whether it decides as the batch system did."""
