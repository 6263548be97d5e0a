# SPDX-License-Identifier: BSD-3-Clause
"""What is known about logs: the cards of ``data_catalog.yaml``, read strictly."""
