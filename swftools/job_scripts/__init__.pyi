# SPDX-License-Identifier: BSD-3-Clause
from .read import SYSTEMS as SYSTEMS
from .read import read_job_script as read_job_script
from .request import Component as Component
from .request import JobRequest as JobRequest
