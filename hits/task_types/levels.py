"""Questions about one pair or sentence a screen: the four levels of ECCV Caption (section 3.2), with reasons where the
round asks for them; the graded expert task of Hodosh, Young and Hockenmaier (2013, section 4.2.1); and whether a
sentence is written correctly, the test that their workers passed before they wrote captions (section 2.3.2)."""

from django.utils.translation import gettext_noop

from hits.pair_plans import plan_pairs
from hits.question import WORDINGS, Level, Wording
from hits.task_types.task_type import Question, TaskType

LEVELS = TaskType(
    name="levels",
    label="four levels, a pair at a time",
    title=gettext_noop("Does the sentence describe the picture?"),
    lead=gettext_noop(
        "You see {n} pictures, one after the other, each with one sentence. You say how well each sentence fits."
    ),
    keywords="image, caption, text, judge, compare",
    screen=(gettext_noop("pair"), gettext_noop("pairs")),
    labels=dict(Level.choices),
    scale="four levels",
    wordings=WORDINGS,
    plan=plan_pairs,
    asks=frozenset({Level.PARTIALLY_YES, Level.MOSTLY_NO}),
)

GRAMMAR = Question(
    name="grammar",
    title="Is the sentence written correctly?",
    screen=("sentence", "sentences"),
    labels={Level.YES: "Correct", Level.NO: "Not correct"},
    keys={Level.YES: "1", Level.NO: "2"},
    wordings={
        1: Wording(
            levels={
                Level.YES: "Its spelling and its grammar are right.",
                Level.NO: "It has at least one error of spelling or grammar.",
            },
        )
    },
    on_pairs=False,
    no_picture="",
)

GRADES = {level: 5 - level for level in Level.values}
"""Level → grade: 4 is the best. A grade is stored as the level that is as good; the score of a pair is the mean of
three judges."""

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
