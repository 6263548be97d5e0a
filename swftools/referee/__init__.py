# SPDX-License-Identifier: BSD-3-Clause
"""A policy held against a real run: does it decide as the batch system did?"""
