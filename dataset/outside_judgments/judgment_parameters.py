"""The parameters of an import of judgments, for the command, the page and the job."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from django import forms
from django.core.exceptions import ValidationError

from core.parameters import OFF_PAGE, Option, Parameters, choices
from core.text import NameField
from corpus.tables import CAPTION_ID, IMAGE, TEXT
from dataset.outside_judgments import DETECT, FORMATS
from hits.question import Level

FIELDS = ((*IMAGE, "image_url", "img_url"), (*CAPTION_ID, "caption", *TEXT))
"""Names of the image and of the caption, if no other is given."""
SKIP = "skip"
_LEVEL = re.compile(rf"([^=]+)=\s*([1-4]|{SKIP})\s*(?:,|$)")
OUR_WORDS: Mapping[str, int] = {
    **{word.casefold(): level.value for level in Level for word in (str(level.value), level.label, level.brief)},
    **dict.fromkeys(("yes", "true"), Level.YES.value),
    **dict.fromkeys(("no", "false"), Level.NO.value),
}


class LevelMeaningsField(forms.Field):
    """What other answers mean: ``Yes=1,Mostly=2,Partly=3,No=4,Unsure=skip``; None if it is left out."""

    metavar = "ANSWER=LEVEL,…"

    def to_python(self, value: Any) -> str:
        text = str(value or "").strip()
        if text and "".join(found[0] for found in _LEVEL.finditer(text)) != text:
            raise ValidationError("Use answer=level with commas between them, as in Yes=1,No=4,Unsure=skip.")
        return text


class JudgmentParameters(Parameters):
    """How to read a file of judgments that were given elsewhere."""

    format: Annotated[
        str,
        forms.ChoiceField(
            choices=choices(DETECT, *FORMATS), label="Format", help_text="format of the file; detect looks into it"
        ),
    ] = DETECT
    from_round: Annotated[
        str,
        NameField(
            required=False,
            label="Name of the round in the file",
            help_text="of judgments-long: the round in the file, if it has several (default: the same name)",
        ),
        Option(name="from"),
    ] = ""
    image: Annotated[
        str,
        "of other tools: the field with the image's id, file name or address (default: its usual names, such as "
        "image_id, image, file_name)",
        Option(metavar="FIELD"),
    ] = ""
    caption: Annotated[
        str,
        "of other tools: the field with the caption's id or its text (default: its usual names, such as caption_id, "
        "caption, text)",
        Option(metavar="FIELD"),
    ] = ""
    answer: Annotated[
        str,
        "of other tools: the question, or the column, whose answers are the levels, if the file has several",
        Option(metavar="QUESTION"),
    ] = ""
    worker: Annotated[
        str,
        "of other tools: the field with the worker (default: its usual names, such as worker), or the name of the "
        "worker who gave the answers without one",
        Option(metavar="FIELD|NAME"),
    ] = ""
    hit: Annotated[
        str,
        "of other tools: the field with the number of the round's HIT (default: the first HIT with the pair)",
        Option(metavar="FIELD"),
    ] = ""
    levels: Annotated[
        str,
        LevelMeaningsField(
            required=False,
            label="Levels",
            help_text="of other tools: what their answers mean, as in Yes=1,Mostly=2,Partly=3,No=4,Unsure=skip "
            "(default: our own words, yes and no, and 1 to 4, where 1 is 100% YES)",
        ),
    ] = ""
    skip_unknown: Annotated[
        bool,
        "of other tools: leave out answers that are not a level, or on pairs that the round has not; they are counted",
    ] = False
    items: Annotated[
        Path | None,
        "of Potato and tables: the project's data file, which says the image and the caption of each item's id",
        OFF_PAGE,
        Option(metavar="FILE"),
    ] = None

    @property
    def pair_fields(self) -> tuple[Sequence[str], Sequence[str]]:
        """The names that the image may have in a file, and those of the caption."""
        return ([self.image] if self.image else FIELDS[0], [self.caption] if self.caption else FIELDS[1])

    def level_words(self) -> Mapping[str, int | None]:
        """Return the casefolded answers → their level, or None for an answer that is skipped."""
        if not self.levels:
            return OUR_WORDS
        return {
            " ".join(found[1].split()).casefold(): None if found[2] == SKIP else int(found[2])
            for found in _LEVEL.finditer(self.levels)
        }
