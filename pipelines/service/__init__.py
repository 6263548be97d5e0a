# SPDX-License-Identifier: BSD-3-Clause
"""The prediction service: users ask over the web how long a job would wait, as in section 8.1 of Nurmi 2009."""
