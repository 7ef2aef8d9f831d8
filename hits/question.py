"""The question of every pair: four levels, reasons for the two in between, and what workers read next to them. A round
keeps the wording that it was packed with, as the words decide what a level means; a version of them is never changed,
only added."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from django.db import models
from django.utils.translation import gettext_noop

from hits.models import Control


class Level(models.IntegerChoices):
    """The four answers, in the paper's words and order (ECCV Caption, section 3.2)."""

    YES = 1, gettext_noop("100% YES")
    PARTIALLY_YES = 2, gettext_noop("Partially YES, but")
    MOSTLY_NO = 3, gettext_noop("Mostly NO, because")
    NO = 4, gettext_noop("100% NO")

    @property
    def brief(self) -> str:
        """The answer as a table or a form of the console names it, which asks for no reason."""
        return self.label.split(",")[0]


class Shortcoming(models.TextChoices):
    """Why a match is not perfect: what the description does, in the words of ECCV Caption (appendix B.1)."""

    NOT_IN_IMAGE = "not_in_image", gettext_noop("describes concepts that do not appear in the image")
    NOT_IN_CAPTION = "not_in_caption", gettext_noop("does not describe the main concepts in the image")
    WRONG_WAY = "wrong_way", gettext_noop("describes the main concepts in a wrong way")
    GRAMMAR = "grammar", gettext_noop("is grammatically incorrect")


class WrongWay(models.TextChoices):
    """What is described in a wrong way (ECCV Caption, table B.3b)."""

    QUANTITY = "quantity", gettext_noop("Quantity")
    COLOR = "color", gettext_noop("Color")
    SPECIES = "species", gettext_noop("Species")
    GENDER = "gender", gettext_noop("Gender")
    AGE = "age", gettext_noop("Age")
    ACTION = "action", gettext_noop("Action")
    EMOTION = "emotion", gettext_noop("Emotion")
    LOCATION = "location", gettext_noop("Location")
    ORIENTATION = "orientation", gettext_noop("Orientation")
    OTHERS = "others", gettext_noop("Others")


RIGHT_LEVELS: Mapping[str, frozenset[int]] = {
    Control.Polarity.POSITIVE: frozenset({1, 2}),
    Control.Polarity.NEGATIVE: frozenset({3, 4}),
}
"""The levels that are right for a pair whose answer is known, by its polarity."""


@dataclass(frozen=True)
class Example:
    """A sentence on a picture, its level, and why. Without the address of a ``picture``, it is the drawn one of a red
    kite over a green hill with a tree."""

    level: Level
    sentence: str
    why: str
    picture: str = field(default="", repr=False)


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
            Level.YES: gettext_noop(
                "Everything the sentence says is true of the picture. It need not mention everything."
            ),
            Level.PARTIALLY_YES: gettext_noop("Mostly true, but at least one detail is wrong or cannot be seen."),
            Level.MOSTLY_NO: gettext_noop("The main thing is wrong or cannot be seen, but something in it is true."),
            Level.NO: gettext_noop("Nothing important in the sentence is true of this picture."),
        },
        why=gettext_noop("Why is it not perfect? The description …"),
        shortcomings={shortcoming: shortcoming.label for shortcoming in Shortcoming},
    ),
}
WORDINGS[3] = replace(
    WORDINGS[2],
    examples=(
        Example(
            Level.YES,
            gettext_noop("A kite flies over a green hill."),
            gettext_noop("all of it is true. It need not mention the tree."),
        ),
        Example(
            Level.PARTIALLY_YES,
            gettext_noop("A blue kite flies over a hill with a tree."),
            gettext_noop("the kite is red."),
        ),
        Example(
            Level.PARTIALLY_YES,
            gettext_noop("A child flies a kite over a hill."),
            gettext_noop("no child can be seen."),
        ),
        Example(
            Level.MOSTLY_NO,
            gettext_noop("Two children fly kites on a beach."),
            gettext_noop("there are no children and no beach, but a kite."),
        ),
        Example(
            Level.NO,
            gettext_noop("A plate of noodles on a table."),
            gettext_noop("nothing in it is true of this picture."),
        ),
    ),
)
