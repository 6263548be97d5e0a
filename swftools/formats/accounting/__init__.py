# SPDX-License-Identifier: BSD-3-Clause
"""What readers of accounting logs share: values in bytes, times with zones, and the ledger of every record."""
