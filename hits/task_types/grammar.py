"""Is a sentence written correctly? The question of a spelling-and-grammar test, which the workers of Hodosh, Young and
Hockenmaier (2013, section 2.3.2) passed before they wrote captions."""

from hits.question import Level, Wording
from hits.task_types.task_type import Question

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
