# SPDX-License-Identifier: BSD-3-Clause
"""What hears of a batch system: a file each."""
