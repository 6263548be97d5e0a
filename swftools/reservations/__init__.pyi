from .plans import ReservationPlan as ReservationPlan
from .plans import ReservedJob as ReservedJob
from .plans import plan_reservation as plan_reservation
from .plans import probability_of_start as probability_of_start
from .simulated import ReservedSchedule as ReservedSchedule
from .simulated import simulate_reservations as simulate_reservations
from .trajectory import Trajectory as Trajectory
from .varq import VarqParameters as VarqParameters
