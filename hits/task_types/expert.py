"""The graded expert task of Hodosh, Young and Hockenmaier (2013, section 4.2.1): 4 is the best grade, and the score of
a pair is the mean of three judges. A grade is stored as the level that is as good: 4 as level 1."""

from hits.pair_plans import plan_pairs
from hits.question import Level, Wording
from hits.task_types.task_type import TaskType

GRADES = {level: 5 - level for level in Level.values}

EXPERT = TaskType(
    name="expert",
    label="grades of experts, 4 (without any error) to 1 (unrelated)",
    title="How well does the sentence describe the picture?",
    lead="You see {n} pictures, one after the other, each with one sentence. You grade each sentence from 4, without "
    "any error, to 1, unrelated.",
    keywords="image, caption, text, grade, rate",
    screen=("pair", "pairs"),
    labels={
        Level.YES: "Without any error",
        Level.PARTIALLY_YES: "Minor errors",
        Level.MOSTLY_NO: "Some aspects only",
        Level.NO: "Unrelated",
    },
    scale="four grades",
    keys={level: str(grade) for level, grade in GRADES.items()},
    wordings={
        1: Wording(
            levels={
                Level.YES: "The sentence describes the picture perfectly. It need not mention everything.",
                Level.PARTIALLY_YES: "It almost describes the picture. Minor mistakes are allowed, such as the number "
                "of things.",
                Level.MOSTLY_NO: "It describes some aspects of the picture, but could not be used as its description.",
                Level.NO: "It bears no relation to the picture.",
            },
        )
    },
    plan=plan_pairs,
    replication=3,
    mean_of=GRADES,
    score_label="grade",
)
