"""The question of every pair: four levels, and reasons for the two in between."""

from collections.abc import Mapping

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
