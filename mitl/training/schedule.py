"""How a network is trained: the options of a training, and the names of losses.

Commands and pages read them, so nothing here imports torch.
"""

from dataclasses import dataclass
from math import cos, pi
from typing import Annotated, Self

from django import forms

from core.parameters import Parameters, choices
from mitl.options import Options, Settings, Value, above_zero

RANKING_LOSSES = ("sum", "max", "semi-hard", "hal", "hal-max", "hal-logsumexp")
MAX_FIRST = ("max", *(loss for loss in RANKING_LOSSES if loss != "max"))
LAST_SHARE = 0.01


@dataclass(frozen=True, kw_only=True)
class Schedule(Parameters):
    """How a network is trained; an annotator's options of the same names.

    ``epochs`` passes in batches of at most ``batch`` pairs, by Adam at ``rate``; AdamW if ``weight_decay`` is above 0,
    for matrices and never for biases. Gradients longer than ``clip`` are shortened (0: none). ``decay``: ``step``
    divides the rate by 10 after every ``step`` epochs, ``cosine`` lowers it to a hundredth by the last epoch. Training
    stops after ``patience`` epochs without improvement on the validation split (0: never). ``threads`` is the number of
    CPU threads; another number changes the last digits of sums.
    """

    epochs: Annotated[
        int, forms.IntegerField(min_value=0, max_value=1000, help_text="passes over the training pairs, 0 to 1000")
    ] = 30
    batch: Annotated[int, forms.IntegerField(min_value=2, max_value=8192, help_text="pairs a batch, 2 to 8192")] = 128
    rate: Annotated[
        float,
        forms.FloatField(max_value=1, validators=[above_zero], help_text="learning rate, above 0 and at most 1"),
    ] = 2e-4
    decay: Annotated[
        str, forms.ChoiceField(choices=choices("step", "cosine", "none"), help_text="how the learning rate falls")
    ] = "step"
    step: Annotated[
        int,
        forms.IntegerField(min_value=1, help_text="with decay=step: epochs after which the rate is divided by 10"),
    ] = 15
    weight_decay: Annotated[
        float, forms.FloatField(min_value=0, max_value=1, help_text="weight decay of AdamW, 0 to 1; 0 is Adam")
    ] = 0.0
    clip: Annotated[
        float, forms.FloatField(min_value=0, help_text="norm to which gradients are clipped; 0: no clipping")
    ] = 2.0
    patience: Annotated[
        int,
        forms.IntegerField(min_value=0, help_text="epochs without improvement after which training stops; 0: never"),
    ] = 0
    threads: Annotated[int, forms.IntegerField(min_value=1, max_value=1024, help_text="number of CPU threads")] = 1

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Read an annotator's settings; missing ones get the defaults above."""
        return cls(**{name: settings[name] for name in cls._fields.keys() & settings.keys()})  # type: ignore[arg-type]

    def rate_at(self, epoch: int) -> float:
        """Return the learning rate of an epoch, numbered from 1."""
        if self.decay == "cosine":
            swing = (1 + cos(pi * (epoch - 1) / max(1, self.epochs - 1))) / 2
            return self.rate * (LAST_SHARE + (1 - LAST_SHARE) * swing)
        return self.rate * (0.1 ** ((epoch - 1) // self.step) if self.decay == "step" else 1.0)


def training_options(**defaults: Value) -> Options:
    """Return the options of a training with an annotator's own defaults: ``training_options(epochs=13, rate=1e-3)``.

    Raises TypeError for an unknown setting.
    """
    own = Schedule(**defaults)  # type: ignore[arg-type]
    options = Schedule.form_fields()
    for name, field in options.items():
        field.initial = getattr(own, name)
    return options
