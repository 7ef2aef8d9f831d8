"""The forms that add and train annotators."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django import forms

from console.uploaded_embeddings import FORMS as EMBEDDING_FORMS
from console.uploads import LARGEST_UPLOAD
from core.seeds import SeedField
from corpus.models import Collection, Match
from mitl.models import Annotator
from mitl.training.examples import Validation


class TrainForm(forms.Form):
    """An annotator's training data and settings; ``losses`` are those that its kind supports."""

    collection = forms.ModelChoiceField(Collection.objects.all(), empty_label=None)
    matches = forms.CharField(initial=Match.ORIGINAL, max_length=80, label="Matches from source")
    loss = forms.ChoiceField()
    validation = forms.ChoiceField(
        choices=[
            (Validation.SPLIT, "the val split, if there is one"),
            (Validation.HELD_OUT, "a random tenth of the training images"),
            (Validation.NONE, "nothing: keep the last epoch"),
        ],
        label="Choose the best epoch on",
    )
    seed = SeedField(initial=0)

    def __init__(self, *args: Any, losses: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["loss"].choices = [(loss, loss) for loss in losses]  # type: ignore[attr-defined]
        self.fields["loss"].required = bool(losses)


class EmbeddingsForm(forms.Form):
    """An uploaded file of embeddings or lists, and the name of the annotator that it becomes."""

    name = forms.SlugField(label="Name of the annotator", max_length=80)
    file = forms.FileField(label="File", max_length=255, help_text="Embeddings (.npz) or ranked lists (.json).")

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Annotator.objects.filter(name=name).exists():
            raise forms.ValidationError(f"There is an annotator {name} already. Choose another name.")
        return name

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if Path(file.name).suffix.lower() not in EMBEDDING_FORMS:
            raise forms.ValidationError("Choose a file that ends in .npz or .json.")
        if file.size > LARGEST_UPLOAD:
            raise forms.ValidationError("The file is larger than 4 GB. Add it with the add_annotator command.")
        return file
