# SPDX-License-Identifier: BSD-3-Clause
from .agents import agent_policy as agent_policy
from .agents import what_it_saw as what_it_saw
from .comparison import compare_schedulers as compare_schedulers
from .demonstration import Demonstration as Demonstration
from .demonstration import demonstrate as demonstrate
from .environment import SchedulingEnv as SchedulingEnv
from .episode_log import EpisodeLog as EpisodeLog
from .logs import default_log as default_log
from .network import Network as Network
from .network import network_policy as network_policy
from .policy_gradient import Trained as Trained
from .policy_gradient import train as train
from .vector_environment import SchedulingVectorEnv as SchedulingVectorEnv

__all__ = [
    "Demonstration",
    "EpisodeLog",
    "Network",
    "SchedulingEnv",
    "SchedulingVectorEnv",
    "Trained",
    "agent_policy",
    "compare_schedulers",
    "default_log",
    "demonstrate",
    "network_policy",
    "train",
    "what_it_saw",
]
