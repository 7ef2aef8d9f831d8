"""The parameters of ``train_annotator``, for the command and the page."""

from dataclasses import dataclass
from typing import Annotated

from django import forms

from core.parameters import OFF_PAGE, POSITIONAL, Option, Parameters, choices
from core.seeds import SeedField
from corpus.models import Match
from mitl.training.examples import Validation


@dataclass(frozen=True, kw_only=True)
class TrainParameters(Parameters):
    """Which annotator is trained, on what, and how."""

    name: Annotated[str, "name of the annotator", POSITIONAL, OFF_PAGE]
    collection: Annotated[str, "collection to train on"]
    matches: Annotated[
        str,
        forms.CharField(
            max_length=80,
            label="Matches from source",
            help_text="source of the positive pairs; of a source with levels, 1 and 2, and 2 counts half",
        ),
        Option(metavar="SOURCE"),
    ] = Match.ORIGINAL
    loss: Annotated[str, "loss, such as sum, max, semi-hard or hal (default: that of the kind)"] = ""
    gallery: Annotated[
        bool,
        "learn from the source's pairs wherever they are, the gallery included, and from those that people rejected; "
        "such an annotator only proposes: do not score it as a model on the same matches",
    ] = False
    validation: Annotated[
        str,
        forms.ChoiceField(
            choices=[
                (Validation.SPLIT.value, "the val split, if there is one"),
                (Validation.HELD_OUT.value, "a random tenth of the training images"),
                (Validation.NONE.value, "nothing: keep the last epoch"),
            ],
            label="Choose the best epoch on",
            help_text="images that decide the best epoch: those of the split val, if there is one; a random tenth of "
            "the training images; none, which keeps the last epoch",
        ),
    ] = Validation.SPLIT.value
    seed: Annotated[int, SeedField(help_text="random seed")] = 0
    device: Annotated[
        str, forms.ChoiceField(choices=choices("cpu", "cuda"), help_text="device to train on"), OFF_PAGE
    ] = "cpu"
