"""How a network is trained: the options of a training, and the names of losses.

Commands and pages read them, so nothing here imports torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import cos, pi
from typing import Self

from mitl.options import Option, Settings, Value

RANKING_LOSSES = ("sum", "max", "semi-hard", "hal", "hal-max", "hal-logsumexp")
MAX_FIRST = ("max", *(loss for loss in RANKING_LOSSES if loss != "max"))
LAST_SHARE = 0.01


@dataclass(frozen=True)
class Schedule:
    """How a network is trained; an annotator's options of the same names.

    ``epochs`` passes in batches of at most ``batch`` pairs, by Adam at ``rate``; AdamW if ``weight_decay`` is above 0,
    for matrices and never for biases. Gradients longer than ``clip`` are shortened (0: none). ``decay``: ``step``
    divides the rate by 10 after every ``step`` epochs, ``cosine`` lowers it to a hundredth by the last epoch. Training
    stops after ``patience`` epochs without improvement on the validation split (0: never). ``threads`` is the number of
    CPU threads; another number changes the last digits of sums.
    """

    epochs: int = 30
    batch: int = 128
    rate: float = 2e-4
    decay: str = "step"
    step: int = 15
    weight_decay: float = 0.0
    clip: float = 2.0
    patience: int = 0
    threads: int = 1

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Read an annotator's settings; missing ones get the defaults above."""
        return cls(**{field.name: settings[field.name] for field in fields(cls) if field.name in settings})  # type: ignore[arg-type]

    def rate_at(self, epoch: int) -> float:
        """Return the learning rate of an epoch, numbered from 1."""
        if self.decay == "cosine":
            swing = (1 + cos(pi * (epoch - 1) / max(1, self.epochs - 1))) / 2
            return self.rate * (LAST_SHARE + (1 - LAST_SHARE) * swing)
        return self.rate * (0.1 ** ((epoch - 1) // self.step) if self.decay == "step" else 1.0)


TRAINING_OPTIONS: Mapping[str, Option] = {
    "epochs": Option(30, "passes over the training pairs, 0 to 1000", allows=lambda epochs: 0 <= epochs <= 1000),
    "batch": Option(128, "pairs a batch, 2 to 8192", allows=lambda batch: 2 <= batch <= 8192),
    "rate": Option(2e-4, "learning rate, above 0 and at most 1", allows=lambda rate: 0 < rate <= 1),
    "decay": Option("step", "how the learning rate falls", choices=("step", "cosine", "none")),
    "step": Option(15, "with decay=step: epochs after which the rate is divided by 10", allows=lambda step: step >= 1),
    "weight_decay": Option(0.0, "weight decay of AdamW, 0 to 1; 0 is Adam", allows=lambda decay: 0 <= decay <= 1),
    "clip": Option(2.0, "norm to which gradients are clipped; 0: no clipping", allows=lambda clip: clip >= 0),
    "patience": Option(0, "epochs without improvement after which training stops; 0: never", allows=lambda n: n >= 0),
    "threads": Option(1, "number of CPU threads", allows=lambda threads: 1 <= threads <= 1024),
}


def training_options(**defaults: Value) -> dict[str, Option]:
    """Return TRAINING_OPTIONS with an annotator's own defaults: ``training_options(epochs=13, rate=1e-3)``.

    Raises TypeError for an unknown setting.
    """
    if unknown := defaults.keys() - TRAINING_OPTIONS.keys():
        raise TypeError(f"Unknown training settings: {', '.join(sorted(unknown))}.")
    return {
        name: replace(option, default=defaults.get(name, option.default)) for name, option in TRAINING_OPTIONS.items()
    }
