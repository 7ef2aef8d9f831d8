"""The forms of collections: captions and pictures to import, matches known from elsewhere, and samples of queries."""

from typing import Any, cast

from django import forms

from annotation.people.qualification_tests import QualificationParameters
from console.collections.sent_imports import CAPTION_UPLOADS, MATCH_UPLOADS, PICTURE_UPLOADS, import_trouble
from console.fields import UploadField
from core.parameters import choices
from corpus.collection_parameters import ImportParameters, MatchesParameters, SampleParameters
from corpus.readers import READERS

LARGEST_LIST = 16 * 1024**2  # bytes of a list of ids


class ImportForm(forms.Form):
    """Captions and pictures to import into a collection."""

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
        self.fields = ImportParameters.form_fields() | self.fields
        self.order_fields(("collection", "format", "captions", "images"))
        format = cast(forms.ChoiceField, self.fields["format"])
        format.required = False
        format.choices = [("", "choose the format"), *choices(*READERS)]

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or {}
        if self.errors:
            return chosen
        names = {field: getattr(chosen[field], "name", "") for field in ("captions", "images")}
        chosen_format, append = chosen["format"], chosen["append"]
        if trouble := import_trouble(chosen["collection"], format=chosen_format, append=append, **names):
            self.add_error(*trouble)
        return chosen

    def params(self) -> dict[str, Any]:
        """Return the job's parameters, without the files."""
        return {name: self.cleaned_data[name] for name in ("collection", "format", "append", "skip_missing")}


class MatchesForm(forms.Form):
    """A file of matches known from elsewhere, and the name of their source."""

    file = UploadField(
        suffixes=MATCH_UPLOADS,
        label="Matches",
        help_text="CxC’s CSV; a CSV with image, caption and optionally score, grade; or JSON of one direction.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields = MatchesParameters.form_fields() | self.fields
        self.order_fields(("source", "file"))

    def params(self) -> dict[str, Any]:
        """Return the job's parameters, without the file and the collection."""
        return {name: self.cleaned_data[name] for name in ("source", "direction", "skip_unknown")}


class SampleForm(forms.Form):
    """A sample of queries: how many to draw of each kind, or lists of their ids."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields = SampleParameters.form_fields()
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


class TestForm(forms.Form):
    """A qualification test, of pairs unless there is a file of sentences."""

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
        self.fields = QualificationParameters.form_fields() | self.fields
        self.order_fields(("name", "sentences"))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        return cleaned | {"positives": None, "negatives": None} if cleaned.get("sentences") else cleaned
