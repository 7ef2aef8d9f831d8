"""The forms of collections: captions and pictures to import, matches known from elsewhere, and samples of queries."""

from typing import Any, cast

from django import forms

from annotation.people.qualification_tests import QualificationParameters
from console.collections.sent_imports import CAPTION_UPLOADS, MATCH_UPLOADS, NO_FILE, PICTURE_UPLOADS
from console.fields import ParametersForm, UploadField
from core.parameters import choices
from corpus.collection_parameters import ImportParameters, MatchesParameters, SampleParameters
from corpus.readers import READERS

LARGEST_LIST = 16 * 1024**2  # bytes of a list of ids


class ImportForm(ParametersForm):
    """Captions and pictures to import into a collection."""

    act = ImportParameters
    without = ("format", "gallery", "skip_broken")  # decided after the look
    field_order = ("collection", "captions", "images")
    captions = UploadField(
        suffixes=CAPTION_UPLOADS,
        required=False,
        label="Captions, or a folder",
        help_text="Plain, gzipped or packed; or a packed folder of captions and pictures. Leave empty to add pictures "
        "to an existing collection.",
    )
    images = UploadField(
        suffixes=PICTURE_UPLOADS,
        required=False,
        label="Pictures",
        help_text="A zip or tar file, if they are not with the captions; it can also be added later.",
    )

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or {}
        if not self.errors and not (chosen["captions"] or chosen["images"]):
            self.add_error("captions", NO_FILE)
        return chosen


class LookForm(ParametersForm):
    """What a person decides after a look at the files."""

    act = ImportParameters
    without = ("collection",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast(forms.ChoiceField, self.fields["format"]).choices = [("", "found out"), *choices(*READERS)]


class MatchesForm(ParametersForm):
    """A file of matches known from elsewhere, and the name of their source."""

    act = MatchesParameters
    field_order = ("source", "file")
    file = UploadField(
        suffixes=MATCH_UPLOADS,
        label="Matches",
        help_text="A table with image, caption and optionally score, grade; qrels; JSON; or an export, packed.",
    )


class SampleForm(ParametersForm):
    """A sample of queries: how many to draw of each kind."""

    act = SampleParameters
    field_order = ("name", "seed", "images", "captions")
    images = forms.IntegerField(min_value=0, label="Query images to draw", initial=0)
    captions = forms.IntegerField(min_value=0, label="Query captions to draw", initial=0)


class TestForm(ParametersForm):
    """A qualification test, of pairs unless there is a file of sentences."""

    act = QualificationParameters
    field_order = ("name", "sentences")
    sentences = UploadField(
        suffixes=(".csv",),
        largest=LARGEST_LIST,
        required=False,
        label="Sentences instead of pairs",
        help_text="A CSV file for a test of spelling and grammar: the columns sentence and written (right or wrong).",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        return cleaned | {"positives": None, "negatives": None} if cleaned.get("sentences") else cleaned
