"""Write a caption: one sentence that describes a picture, five workers a picture, after Hodosh, Young and Hockenmaier
(2013, section 2.3) and Rashtchian et al. (2010). Nothing says which sentence is right: a person reads each HIT."""

from math import ceil

import numpy as np

from core.errors import CounterpartError
from hits.packing.designs import Design
from hits.packing.plan import Plan, plan_alone
from hits.pair_plans import PlanRequest
from hits.question import Level, Wording
from hits.task_types.task_type import TaskType


def plan_pictures(request: PlanRequest) -> Plan:
    """Ask about every query image of the pool's sample by itself, whatever its pairs are. Raises CounterpartError for a
    sample without images that may be shown."""
    request.progress("filling HITs", 0, None)
    sample = request.pool.sample
    asked = request.sides.images.codes(list(sample.images.order_by().values_list("pk", flat=True)))
    images = np.setdiff1d(asked, request.avoided.images)
    if not len(images):
        raise CounterpartError(f"The sample {sample} has no image to describe. Sample one with --images.")
    return plan_alone(request.sides, "images", images, design=request.design, seed=request.seed)


CAPTION = TaskType(
    name="caption",
    label="write a sentence that describes a picture",
    title="Describe the picture in one sentence",
    lead="You see {n} pictures, one after the other. For each you write one sentence that describes it.",
    keywords="image, caption, text, write, describe",
    screen=("picture", "pictures"),
    labels={Level.YES: "a sentence"},
    scale="written",
    wordings={
        1: Wording(
            levels={},
            rules=(
                "Write one complete sentence about the people, animals and things, the place, and what happens.",
                "Describe only what can be seen. Do not guess names, places, feelings, or what happened before.",
                "Name what matters in the picture. You need not mention everything.",
                "Use correct spelling and grammar.",
                "Write a new sentence for each picture, in your own words.",
            ),
        )
    },
    plan=plan_pictures,
    count_hits=lambda pooled, design: ceil(pooled.query_images() / design.candidates),
    usual_minutes=(3, 6),
    on_pairs=False,
    writes=True,
    design=Design("caption-5", candidates=5, positives=0, negatives=0),
    replication=5,
    read_by="export --format captions",
)
