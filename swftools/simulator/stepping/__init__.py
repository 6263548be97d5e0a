# SPDX-License-Identifier: BSD-3-Clause
"""Decisions from outside: a simulation that stops before each, is looked at, acted on, and goes on."""
