"""The forms of collections: captions and pictures to import, matches known from elsewhere, and samples of queries."""

from typing import Any, cast

from django import forms

from annotation.people.qualification_tests import QualificationParameters
from console.collections.sent_imports import CAPTION_UPLOADS, MATCH_UPLOADS, PICTURE_UPLOADS, import_trouble
from console.fields import ParametersForm, UploadField
from core.parameters import choices
from corpus.collection_parameters import ImportParameters, MatchesParameters, SampleParameters
from corpus.readers import READERS

LARGEST_LIST = 16 * 1024**2  # bytes of a list of ids


class ImportForm(ParametersForm):
    """Captions and pictures to import into a collection."""

    act = ImportParameters
    field_order = ("collection", "format", "captions", "images")
    captions = UploadField(
        suffixes=CAPTION_UPLOADS,
        required=False,
        label="Captions",
        help_text="Plain, gzipped or zipped. Leave empty to add pictures to an existing collection, or for a folder of "
        "pictures without captions.",
    )
    images = UploadField(
        suffixes=PICTURE_UPLOADS, required=False, label="Pictures", help_text="A zip file; it can also be added later."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast(forms.ChoiceField, self.fields["format"])
        field.required = False
        field.choices = [("", "choose the format"), *choices(*READERS)]

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or {}
        if self.errors:
            return chosen
        names = {field: getattr(chosen[field], "name", "") for field in ("captions", "images")}
        trouble = import_trouble(chosen["collection"], format_name=chosen["format"], append=chosen["append"], **names)
        if trouble:
            self.add_error(*trouble)
        return chosen


class MatchesForm(ParametersForm):
    """A file of matches known from elsewhere, and the name of their source."""

    act = MatchesParameters
    field_order = ("source", "file")
    file = UploadField(
        suffixes=MATCH_UPLOADS,
        label="Matches",
        help_text="CxC’s CSV; a CSV with image, caption and optionally score, grade; or JSON of one direction.",
    )


class SampleForm(ParametersForm):
    """A sample of queries: how many to draw of each kind, or lists of their ids."""

    act = SampleParameters

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for things in ("images", "captions"):
            drawn = self.fields[things].label
            self.fields[things] = forms.IntegerField(min_value=0, required=False, label=drawn)
            self.fields[f"{things}_list"] = UploadField(
                suffixes=(".txt", ".csv"),
                largest=LARGEST_LIST,
                required=False,
                label=f"or a list of {things.removesuffix('s')} ids",
                help_text="An id a line; used instead of the number.",
            )
        self.order_fields(("name", "seed", "images", "images_list", "captions", "captions_list"))


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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial = {"positives": 4, "negatives": 4, "pass_mark": 7}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        return cleaned | {"positives": None, "negatives": None} if cleaned.get("sentences") else cleaned
