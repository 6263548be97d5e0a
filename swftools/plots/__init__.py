# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of traces, schedules, cleanings, comparisons, predictions and histories; each by its name.

matplotlib is imported by the first picture that is drawn, and comes with the extra ``swftools[plots]``.
"""

from swftools.plots import against as _against  # noqa: F401 (a line for each picture)
from swftools.plots import arrivals as _arrivals  # noqa: F401
from swftools.plots import backfilled as _backfilled  # noqa: F401
from swftools.plots import balance as _balance  # noqa: F401
from swftools.plots import bound_width as _bound_width  # noqa: F401
from swftools.plots import bounds_vs_waits as _bounds_vs_waits  # noqa: F401
from swftools.plots import coverage as _coverage  # noqa: F401
from swftools.plots import differences as _differences  # noqa: F401
from swftools.plots import drift as _drift  # noqa: F401
from swftools.plots import estimates as _estimates  # noqa: F401
from swftools.plots import findings as _findings  # noqa: F401
from swftools.plots import fragmentation as _fragmentation  # noqa: F401
from swftools.plots import gantt as _gantt  # noqa: F401
from swftools.plots import inaccuracy as _inaccuracy  # noqa: F401
from swftools.plots import load as _load  # noqa: F401
from swftools.plots import machine as _machine  # noqa: F401
from swftools.plots import policies as _policies  # noqa: F401
from swftools.plots import queue as _queue  # noqa: F401
from swftools.plots import reliability as _reliability  # noqa: F401
from swftools.plots import request_use as _request_use  # noqa: F401
from swftools.plots import reserved as _reserved  # noqa: F401
from swftools.plots import resources as _resources  # noqa: F401
from swftools.plots import sensitivity as _sensitivity  # noqa: F401
from swftools.plots import shares as _shares  # noqa: F401
from swftools.plots import sizes as _sizes  # noqa: F401
from swftools.plots import slowdowns as _slowdowns  # noqa: F401
from swftools.plots import tightened_requests as _tightened_requests  # noqa: F401
from swftools.plots import trajectory as _trajectory  # noqa: F401
from swftools.plots import utilization as _utilization  # noqa: F401
from swftools.plots import wait_by_hour as _wait_by_hour  # noqa: F401
from swftools.plots import wait_by_size as _wait_by_size  # noqa: F401
from swftools.plots import wait_reasons as _wait_reasons  # noqa: F401
from swftools.plots import waits as _waits  # noqa: F401

from swftools.plots import overview as _overview  # noqa: F401 isort: skip
from swftools.plots.against import compare_jobs as compare_jobs
from swftools.plots.picture import Picture as Picture
from swftools.plots.picture import caption as caption
from swftools.plots.picture import data as data
from swftools.plots.picture import find_picture as find_picture
from swftools.plots.picture import kinds_of_pictures as kinds_of_pictures
from swftools.plots.picture import list_pictures as list_pictures
from swftools.plots.picture import plot as plot
from swftools.plots.picture import plot_and_tell as plot_and_tell
from swftools.plots.picture import register_picture as register_picture
from swftools.plots.style import look_of as look_of
from swftools.plots.style import style as style
