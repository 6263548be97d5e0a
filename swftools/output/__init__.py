# SPDX-License-Identifier: BSD-3-Clause
"""How anything goes out: files that appear whole, text that steers no terminal, figures that are drawn."""
