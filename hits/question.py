"""The question of every pair: four levels, reasons for the two in between, and what workers read next to them. A round
keeps the wording that it was packed with, as the words decide what a level means; a version of them is never changed,
only added."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from django.db import models

from hits.models import Control


class Level(models.IntegerChoices):
    """The four answers, in the paper's words and order (ECCV Caption, section 3.2)."""

    YES = 1, "100% YES"
    PARTIALLY_YES = 2, "Partially YES, but"
    MOSTLY_NO = 3, "Mostly NO, because"
    NO = 4, "100% NO"

    @property
    def brief(self) -> str:
        """The answer as a table or a form of the console names it, which asks for no reason."""
        return self.label.split(",")[0]


class Shortcoming(models.TextChoices):
    """Why a match is not perfect: what the description does, in the words of ECCV Caption (appendix B.1)."""

    NOT_IN_IMAGE = "not_in_image", "describes concepts that do not appear in the image"
    NOT_IN_CAPTION = "not_in_caption", "does not describe the main concepts in the image"
    WRONG_WAY = "wrong_way", "describes the main concepts in a wrong way"
    GRAMMAR = "grammar", "is grammatically incorrect"


class WrongWay(models.TextChoices):
    """What is described in a wrong way (ECCV Caption, table B.3b)."""

    QUANTITY = "quantity"
    COLOR = "color"
    SPECIES = "species"
    GENDER = "gender"
    AGE = "age"
    ACTION = "action"
    EMOTION = "emotion"
    LOCATION = "location"
    ORIENTATION = "orientation"
    OTHERS = "others"


RIGHT_LEVELS: Mapping[str, frozenset[int]] = {
    Control.Polarity.POSITIVE: frozenset({1, 2}),
    Control.Polarity.NEGATIVE: frozenset({3, 4}),
}
"""The levels that are right for a pair whose answer is known, by its polarity."""


@dataclass(frozen=True)
class Example:
    """A sentence on the drawn picture of a red kite over a green hill with a tree, its level, and why."""

    level: Level
    sentence: str
    why: str


@dataclass(frozen=True)
class Wording:
    """``why`` heads the shortcomings, which complete its last sentence where it is left open. ``rules`` are for an
    answer that is written."""

    levels: Mapping[Level, str]
    why: str = ""
    shortcomings: Mapping[Shortcoming, str] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    rules: tuple[str, ...] = ()


WORDINGS: dict[int, Wording] = {
    1: Wording(
        levels={
            Level.YES: "The sentence fits the picture. Nothing in it is wrong.",
            Level.PARTIALLY_YES: "It fits on the whole, but some detail is wrong or missing.",
            Level.MOSTLY_NO: "The main thing is wrong or missing; only something small fits.",
            Level.NO: "The sentence and the picture have nothing to do with each other.",
        },
        why="Why is it not perfect?",
        shortcomings={
            Shortcoming.NOT_IN_IMAGE: "it describes things that do not appear in the picture",
            Shortcoming.NOT_IN_CAPTION: "it leaves out the main things in the picture",
            Shortcoming.WRONG_WAY: "it describes the main things in a wrong way",
            Shortcoming.GRAMMAR: "it has a grammatical error",
        },
    ),
    2: Wording(
        levels={
            Level.YES: "Everything the sentence says is true of the picture. It need not mention everything.",
            Level.PARTIALLY_YES: "Mostly true, but at least one detail is wrong or cannot be seen.",
            Level.MOSTLY_NO: "The main thing is wrong or cannot be seen, but something in it is true.",
            Level.NO: "Nothing important in the sentence is true of this picture.",
        },
        why="Why is it not perfect? The description …",
        shortcomings={shortcoming: shortcoming.label for shortcoming in Shortcoming},
    ),
}
WORDINGS[3] = replace(
    WORDINGS[2],
    examples=(
        Example(Level.YES, "A kite flies over a green hill.", "all of it is true. It need not mention the tree."),
        Example(Level.PARTIALLY_YES, "A blue kite flies over a hill with a tree.", "the kite is red."),
        Example(Level.PARTIALLY_YES, "A child flies a kite over a hill.", "no child can be seen."),
        Example(
            Level.MOSTLY_NO, "Two children fly kites on a beach.", "there are no children and no beach, but a kite."
        ),
        Example(Level.NO, "A plate of noodles on a table.", "nothing in it is true of this picture."),
    ),
)
