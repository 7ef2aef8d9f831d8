"""Is a caption determinate? A caption by itself, without its image: would it fit only few pictures? No paper of ours
defines it; this definition is the project's. It has no controls, as nothing says which answer is right."""

from math import ceil

import numpy as np

from hits.packing.designs import Design
from hits.packing.plan import Plan, plan_alone
from hits.pair_plans import PlanRequest
from hits.question import Level, Wording
from hits.task_types.task_type import TaskType


def plan_captions(request: PlanRequest) -> Plan:
    """Ask about every caption of the pairs by itself."""
    request.progress("filling HITs", 0, None)
    captions = np.unique(request.pairs[:, 1])
    return plan_alone(request.sides, "captions", captions, design=request.design, seed=request.seed)


DETERMINATE = TaskType(
    name="determinate",
    label="is this caption determinate? A caption at a time, without a picture",
    title="Would this sentence fit only few pictures?",
    lead="You see {n} sentences, one after the other, that were written for pictures. You do not see the pictures. For "
    "each sentence you say whether it would fit only few pictures.",
    keywords="caption, sentence, text, read, judge",
    screen=("sentence", "sentences"),
    labels={Level.YES: "Yes, only few pictures", Level.NO: "No, many pictures"},
    scale="yes or no",
    keys={Level.YES: "1", Level.NO: "2"},
    wordings={
        1: Wording(
            levels={
                Level.YES: "Who reads it would know its picture among many others: it tells something particular.",
                Level.NO: "Many pictures that differ from each other would fit it, or it tells of no picture at all.",
            },
        ),
        2: Wording(
            levels={
                Level.YES: "Who reads it would know its picture among many others: it names something particular.",
                Level.NO: "Many pictures that differ from each other would fit it, or it describes no picture at all.",
            },
        ),
    },
    plan=plan_captions,
    count_hits=lambda pooled, design: ceil(pooled.captions() / design.candidates),
    usual_minutes=(2, 5),
    on_pairs=False,
    no_picture="",
    read_by="analyse determinate",
    design=Design("determinate-20", candidates=20, positives=0, negatives=0),
    replication=3,
    mean_of={Level.YES: 1.0},
    score_label="share of yes",
)
