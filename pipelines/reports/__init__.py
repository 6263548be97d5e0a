# SPDX-License-Identifier: BSD-3-Clause
"""Reports: a published version as one HTML file for people. A kind of version is a file here and its line below."""

from pipelines.reports import candidates as _candidates  # noqa: F401 (a line for each kind)
from pipelines.reports import comparison as _comparison  # noqa: F401
from pipelines.reports import experiment as _experiment  # noqa: F401
from pipelines.reports import history as _history  # noqa: F401
from pipelines.reports import prices as _prices  # noqa: F401
from pipelines.reports import reproduction as _reproduction  # noqa: F401
from pipelines.reports import reservations as _reservations  # noqa: F401
from pipelines.reports import schedule as _schedule  # noqa: F401
from pipelines.reports import trace as _trace  # noqa: F401
from pipelines.reports import waits as _waits  # noqa: F401
from pipelines.reports.page import check_libraries as check_libraries
from pipelines.reports.page import page_of_centre as page_of_centre
from pipelines.reports.page import page_of_log as page_of_log
from pipelines.reports.page import page_of_schedule as page_of_schedule
from pipelines.reports.page import put_report as put_report
from pipelines.reports.page import report_page as report_page
from pipelines.reports.report import Version as Version
from pipelines.reports.report import check_kind as check_kind
