# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the site that are made from the code: galleries of what is registered, and the reference of public names."""
