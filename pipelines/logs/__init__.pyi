# SPDX-License-Identifier: BSD-3-Clause
from .find import catalog_in_use as catalog_in_use
from .load import LoadedLog as LoadedLog
from .load import load_log as load_log
