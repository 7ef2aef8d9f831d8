"""The parameters of ``active_learning``."""

from dataclasses import dataclass
from typing import Annotated, Any

from django import forms
from django.core.exceptions import ValidationError

from core.parameters import POSITIONAL, NamesField, Option, Parameters, choices
from core.seeds import SeedField
from corpus.models import Match
from counterpart_annotators.selection import WEIGHTS
from mitl.annotators import kinds

CORE_SET = "core-set"
RANDOM = "random"
SCORES = (*WEIGHTS, CORE_SET, RANDOM)
PRESETS: dict[str, dict[str, object]] = {"paper": {"epochs": 40, "decay": "step", "step": 20}, "quick": {"epochs": 3}}


class ScoresField(NamesField):
    """Some of ``SCORES``, each once."""

    def to_python(self, value: Any) -> tuple[str, ...]:
        names = super().to_python(value)
        if not set(names) <= set(SCORES) or len(set(names)) < len(names):
            raise ValidationError(f"Use some of {', '.join(SCORES)}, each once, with commas between them.")
        return names


@dataclass(frozen=True, kw_only=True)
class ActiveParameters(Parameters):
    """Which annotator learns on which collection, and how the images that get captions are chosen."""

    collection: Annotated[str, "collection to learn on", POSITIONAL]
    kind: Annotated[
        str, forms.ChoiceField(choices=lambda: choices(*kinds()), help_text="kind of annotator"), Option(metavar="K")
    ]
    score: Annotated[
        tuple[str, ...],
        ScoresField(help_text=f"how the next images are chosen: {', '.join(SCORES)}; several are compared"),
    ] = (WEIGHTS[0],)
    preset: Annotated[
        str,
        forms.ChoiceField(
            choices=choices(*PRESETS),
            help_text="how to train: paper, 40 epochs, a tenth of the rate after 20, of the last ten the best on val; "
            "quick, 3 epochs",
        ),
    ] = "paper"
    start: Annotated[
        int, forms.IntegerField(min_value=1, max_value=99, help_text="percent of the images paired at the start")
    ] = 30
    step: Annotated[
        int, forms.IntegerField(min_value=1, max_value=99, help_text="percent of all images paired in a step")
    ] = 5
    steps: Annotated[int, forms.IntegerField(min_value=1, max_value=99, help_text="number of steps")] = 3
    seeds: Annotated[
        int, forms.IntegerField(min_value=1, max_value=1000, help_text="number of runs, with seeds from --seed on")
    ] = 1
    seed: Annotated[int, SeedField(help_text="first random seed")] = 0
    top_k: Annotated[
        int, forms.IntegerField(min_value=1, help_text="place of the similarity that a hard negative exceeds")
    ] = 1
    mini_batch: Annotated[
        int | None,
        forms.IntegerField(min_value=2, required=False, help_text="pairs that hard negatives are measured on (all)"),
    ] = None
    loss: Annotated[str, "loss, such as sum, max, semi-hard or hal (default: that of the kind)"] = ""
    split: Annotated[str, "images on which retrieval is measured (default: test, or val without it)"] = ""
    positives: Annotated[str, "source of the matches to find; of levels, 1 and 2", Option(metavar="SOURCE")] = (
        Match.ORIGINAL
    )
    device: Annotated[str, forms.ChoiceField(choices=choices("cpu", "cuda"), help_text="device to train on")] = "cpu"
