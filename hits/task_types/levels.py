"""The four levels of ECCV Caption (section 3.2): one pair a screen, with reasons where the round asks for them."""

from hits.pair_plans import plan_pairs
from hits.question import WORDINGS, Level
from hits.task_types.task_type import TaskType

LEVELS = TaskType(
    name="levels",
    label="four levels, a pair at a time",
    title="Does the sentence describe the picture?",
    lead="You see {n} pictures, one after the other, each with one sentence. For each you say how well the sentence "
    "fits.",
    keywords="image, caption, text, judge, compare",
    screen=("pair", "pairs"),
    labels=dict(Level.choices),
    scale="four levels",
    wordings=WORDINGS,
    plan=plan_pairs,
    asks=frozenset({Level.PARTIALLY_YES, Level.MOSTLY_NO}),
)
