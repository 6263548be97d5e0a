# SPDX-License-Identifier: BSD-3-Clause
from .events import JobEvent as JobEvent
from .events import log_events as log_events
from .job_files import JobFiles as JobFiles
from .journal import Journal as Journal
from .journal import Mark as Mark
from .journal import read_journal as read_journal
from .ledger import ToldCounts as ToldCounts
from .ledger import ToldLedger as ToldLedger
from .predictor import LivePredictor as LivePredictor
from .predictor import ToldWait as ToldWait
from .told_file import ToldFile as ToldFile
from .told_file import read_told as read_told
