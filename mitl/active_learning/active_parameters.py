"""The parameters of ``active_learning``."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from django import forms
from django.core.exceptions import ValidationError

from core.parameters import POSITIONAL, NamesField, Option, Parameters, choices
from core.seeds import SeedField
from core.untrusted import whole_number
from corpus.models import Match
from counterpart_annotators.choosing import SCORES, Way, ways_of
from mitl.annotators import kinds
from mitl.search.top_lists import Device

ALL = "none"  # mini-batch
PRESETS: dict[str, dict[str, object]] = {"paper": {"epochs": 40, "decay": "step", "step": 20}, "quick": {"epochs": 3}}


class DistinctField(NamesField):
    """Texts that ``fits`` accepts, each once; ``wanted`` describes them."""

    def __init__(self, fits: Callable[[str], bool], wanted: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._fits = fits
        self._wanted = wanted

    def to_python(self, value: Any) -> tuple[str, ...]:
        texts = super().to_python(value)
        if not all(map(self._fits, texts)) or len(set(texts)) < len(texts):
            raise ValidationError(f"Use {self._wanted}, each once, with commas between them.")
        return texts


class ActiveParameters(Parameters):
    """Which annotator learns on which collection, and how what is paired next is chosen."""

    collection: Annotated[str, "collection to learn on", POSITIONAL]
    kind: Annotated[
        str, forms.ChoiceField(choices=lambda: choices(*kinds()), help_text="kind of annotator"), Option(metavar="K")
    ]
    score: Annotated[
        tuple[str, ...],
        DistinctField(
            SCORES.__contains__,
            f"some of {', '.join(SCORES)}",
            help_text=f"how what is paired next is chosen: {', '.join(SCORES)}; several are compared",
        ),
    ] = (SCORES[0],)
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
        tuple[str, ...],
        DistinctField(
            lambda text: (whole_number(text) or 0) >= 1,
            "whole numbers from 1 on",
            help_text="place of the similarity that a hard negative exceeds; several are compared",
        ),
    ] = ("1",)
    mini_batch: Annotated[
        tuple[str, ...],
        DistinctField(
            lambda text: text == ALL or (whole_number(text) or 0) >= 2,
            f"whole numbers from 2 on, or {ALL}",
            help_text=f"pairs that hard negatives are measured on, {ALL}: all; several are compared",
        ),
    ] = (ALL,)
    unpaired: Annotated[Literal["images", "captions"], "what waits for its other half"] = "images"
    loss: Annotated[str, "loss, such as sum, max, semi-hard or hal (default: that of the kind)"] = ""
    split: Annotated[str, "images on which retrieval is measured (default: test, or val without it)"] = ""
    positives: Annotated[str, "source of the matches to find; of levels, 1 and 2", Option(metavar="SOURCE")] = (
        Match.ORIGINAL
    )
    device: Annotated[Device, "device to train on"] = "cpu"

    @property
    def conditions(self) -> tuple[list[int], list[int | None]]:
        """The places and the mini-batches of hard negatives, None for all pairs."""
        return [int(text) for text in self.top_k], [None if text == ALL else int(text) for text in self.mini_batch]

    @property
    def ways(self) -> tuple[Way, ...]:
        return ways_of(self.score, *self.conditions)
