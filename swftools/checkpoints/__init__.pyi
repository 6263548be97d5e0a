# SPDX-License-Identifier: BSD-3-Clause
from .fixed_survey import FixedCheckpointSurvey as FixedCheckpointSurvey
from .fixed_survey import fix_checkpoint_survey as fix_checkpoint_survey
from .fixed_survey import infer_fixed_checkpoints as infer_fixed_checkpoints
from .inference import CheckpointInference as CheckpointInference
from .inference import CheckpointParameters as CheckpointParameters
from .inference import infer_checkpoints as infer_checkpoints
from .inference import read_checkpoints as read_checkpoints
from .inference import write_checkpoints as write_checkpoints
from .survey import CheckpointSurvey as CheckpointSurvey
from .survey import read_checkpoint_survey as read_checkpoint_survey
from .survey import summarize_checkpoint_survey as summarize_checkpoint_survey
from .survey import write_checkpoint_survey as write_checkpoint_survey
from .synthetic_survey import CheckpointSurveyParameters as CheckpointSurveyParameters
from .synthetic_survey import generate_checkpoint_survey as generate_checkpoint_survey
