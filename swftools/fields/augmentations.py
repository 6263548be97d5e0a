"""The columns that augmentations add to jobs, by augmentation, and the tables that they publish beside them."""

from __future__ import annotations

from swftools.fields.definition import BOOL, FLOAT64, INT64, INTEGERS, MAX_TIME, NEVER, STRING, UTILITY, Field

UTILITY_COLUMNS = (
    Field(
        "priority_rank",
        INT64,
        "1",
        "Priority of the job's queue, 0 highest (card of the log).",
        NEVER,
        stage="utility",
        minimum=0,
    ),
    Field("utility_decay", STRING, "1", "Kind of decay: linear, exponential or step.", NEVER, stage="utility"),
    Field(
        "utility",
        UTILITY,
        "s, value units",
        "Piecewise-linear utility function: time since submission and value, zero after the last time.",
        "null: the log gives none",
        stage="utility",
    ),
    Field(
        "logged_utility",
        FLOAT64,
        "value units",
        "Utility the job earned in the log itself, at its own turnaround (or wait).",
        "null: the log does not tell that time",
        stage="utility",
        minimum=0,
    ),
)

CHECKPOINT_COLUMNS = (
    Field(
        "performs_checkpointing",
        BOOL,
        "1",
        "The job writes checkpoints and can be restarted from them.",
        NEVER,
        stage="checkpoints",
        stable_under_growth=False,
    ),
    Field(
        "checkpoint_interval",
        FLOAT64,
        "s",
        "Time between two checkpoints.",
        "null: no checkpointing",
        stage="checkpoints",
        stable_under_growth=False,
        minimum=0,
    ),
    Field(
        "checkpoint_choice",
        INT64,
        "1",
        "Answer to the survey: 0 yes, 1 no, debug run, 2 no, will probably end, 3 no, not available, 4 no, "
        "slows down, 5 other.",
        "null: no answer, given or inferred",
        stage="checkpoints",
        stable_under_growth=False,
        minimum=0,
        maximum=5,
    ),
    Field(
        "checkpoint_source",
        STRING,
        "1",
        "survey (the user's answer for this job), inferred (drawn from the user's answers for jobs as wide) or "
        "assumed-none.",
        NEVER,
        stage="checkpoints",
        stable_under_growth=False,
    ),
    Field(
        "is_checkpoint_survey_synthetic",
        BOOL,
        "1",
        "The survey was generated, no user was asked.",
        NEVER,
        stage="checkpoints",
        stable_under_growth=False,
    ),
)

ARRIVAL_COLUMNS = (
    Field(
        "model_submit_time",
        FLOAT64,
        "s",
        "Submission under the arrival model; submit_time keeps the logged one.",
        "null: no submit_time",
        stage="arrivals",
        stable_under_growth=False,
        minimum=0,
        maximum=MAX_TIME,
    ),
)

SPEEDUP_COLUMNS = (
    Field(
        "is_moldable",
        BOOL,
        "1",
        "The job can be started on other widths than its own.",
        NEVER,
        stage="speedup",
    ),
    Field(
        "speedup_curve",
        STRING,
        "1",
        "Form of S(n): downey (parameters downey_a, downey_sigma) or simple (parameter width).",
        "null: not moldable",
        stage="speedup",
    ),
    Field(
        "downey_a",
        FLOAT64,
        "processors",
        "Average parallelism A of Downey's curve: its largest speedup.",
        "null: another curve, or none",
        stage="speedup",
        minimum=1,
    ),
    Field(
        "downey_sigma",
        FLOAT64,
        "1",
        "Variation sigma of parallelism of Downey's curve.",
        "null: another curve, or none",
        stage="speedup",
        minimum=0,
    ),
    Field(
        "sequential_run_time",
        FLOAT64,
        "s",
        "run_time x S(width); the run time on n processors is this / S(n).",
        "null: not moldable, or no run_time",
        stage="speedup",
        minimum=0,
    ),
    Field(
        "minimum_processors",
        INT64,
        "processors",
        "Least width the job can run on.",
        "null: no width",
        stage="speedup",
        minimum=1,
    ),
    Field(
        "optimal_processors",
        INT64,
        "processors",
        "Processor working set: the allowed width with the least run time / efficiency.",
        "null: no width",
        stage="speedup",
        minimum=1,
    ),
    Field(
        "maximum_processors",
        INT64,
        "processors",
        "Largest width the job can use, no larger than the machine.",
        "null: no width",
        stage="speedup",
        minimum=1,
    ),
    Field(
        "processor_constraint",
        STRING,
        "1",
        "Widths allowed between minimum and maximum: any, power-of-two, square, even, multiple-of-4 or rigid.",
        "null: no width",
        stage="speedup",
    ),
    Field(
        "processor_choices",
        INTEGERS,
        "processors",
        "Widths that the user offers the scheduler, ascending, the job's own among them.",
        "null: no width",
        stage="speedup",
    ),
)

ESTIMATE_COLUMNS = (
    Field(
        "model_requested_time",
        FLOAT64,
        "s",
        "User estimate under the model; requested_time keeps the logged one.",
        NEVER,
        stage="estimates",
        stable_under_growth=False,
        minimum=0,
    ),
)

AUGMENTATION_COLUMNS: dict[str, tuple[Field, ...]] = {
    "utility": UTILITY_COLUMNS,
    "checkpoints": CHECKPOINT_COLUMNS,
    "arrivals": ARRIVAL_COLUMNS,
    "speedup": SPEEDUP_COLUMNS,
    "estimates": ESTIMATE_COLUMNS,
}
"""The columns of each augmentation, in the order of the jobs table."""

CHECKPOINT_SURVEY = (
    Field("answer_number", INT64, "1", "Row of the survey, first answer = 1.", NEVER, stage="checkpoints", minimum=1),
    Field("user_id", INT64, "1", "User who answered.", "null: not told", stage="checkpoints"),
    Field("processors", INT64, "processors", "Processors of the job.", NEVER, stage="checkpoints", minimum=1),
    Field("job_number", INT64, "1", "Number of the job.", "null: none told, none found", stage="checkpoints"),
    Field(
        "job_occurrence",
        INT64,
        "1",
        "With job_number the key of the job of the trace.",
        "null: no job of the trace",
        stage="checkpoints",
        minimum=0,
    ),
    Field("submit_time", FLOAT64, "s", "Submission of the job.", "null: none told, none found", stage="checkpoints"),
    Field(
        "choice",
        INT64,
        "1",
        "Answer: 0 yes, 1-4 no, 5 other, 6 declined.",
        NEVER,
        stage="checkpoints",
        minimum=0,
        maximum=6,
    ),
    Field(
        "interval", FLOAT64, "s", "Time between two checkpoints.", "null: not choice 0", stage="checkpoints", minimum=0
    ),
    Field(
        "outcome",
        STRING,
        "1",
        "matched (a job of the trace), no-such-job (the user is in the trace: pooled) or no-such-user (not used).",
        NEVER,
        stage="checkpoints",
    ),
)

CHECKPOINT_SUMMARY = (
    Field("choice", INT64, "1", "Choice of the survey, 0 to 6.", NEVER, stage="checkpoints", minimum=0, maximum=6),
    Field("meaning", STRING, "1", "The choice in words.", NEVER, stage="checkpoints"),
    Field("responses", INT64, "answers", "Answers with this choice.", NEVER, stage="checkpoints", minimum=0),
    Field("response_share", FLOAT64, "1", "Share of all answers.", "null: no answers", stage="checkpoints", minimum=0),
    Field(
        "processor_hours",
        FLOAT64,
        "processor hours",
        "Width x logged run time of the jobs matched by these answers.",
        NEVER,
        stage="checkpoints",
        minimum=0,
    ),
    Field(
        "processor_hours_share",
        FLOAT64,
        "1",
        "Share of the processor hours of all matched jobs.",
        "null: none",
        stage="checkpoints",
        minimum=0,
    ),
)
