# SPDX-License-Identifier: BSD-3-Clause
from .co_allocation import CoAllocation as CoAllocation
from .co_allocation import co_allocate as co_allocate
from .plans import ReservationPlan as ReservationPlan
from .plans import ReservedJob as ReservedJob
from .plans import plan_reservation as plan_reservation
from .plans import probability_of_start as probability_of_start
from .simulated import ReservedSchedule as ReservedSchedule
from .simulated import simulate_reservations as simulate_reservations
from .site_requests import Site as Site
from .sites import SitesOutcome as SitesOutcome
from .sites import simulate_sites as simulate_sites
from .trajectory import Trajectory as Trajectory
from .varq_parameters import VarqParameters as VarqParameters
