"""How a network is trained: the options of a training, and the names of losses.

Commands and pages read them, so nothing here imports torch.
"""

from dataclasses import dataclass
from math import cos, pi
from typing import Self

from counterpart_annotators.options import Options, Settings, Value, above_zero, choice, number

RANKING_LOSSES = ("sum", "max", "semi-hard", "hal", "hal-max", "hal-logsumexp")
MAX_FIRST = ("max", *(loss for loss in RANKING_LOSSES if loss != "max"))
LAST_SHARE = 0.01
RANKING: Options = {"neighbours": number(3, "HAL's k: neighbours that measure a hub, 1 or more", min_value=1)}
OPTIMISERS = ("adam", "adamp")


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How a network is trained; an annotator's options of the same names.

    ``epochs`` passes in batches of at most ``batch`` pairs, by ``optimiser`` at ``rate``; ``weight_decay`` (AdamW's) is
    for matrices and never for biases. Gradients longer than ``clip`` are shortened (0: none). ``decay``: ``step``
    divides the rate by 10 after every ``step`` epochs, ``cosine`` lowers it to a hundredth by the last epoch. In
    ``second_stage_epochs`` further passes, from ``second_stage_rate`` down in the same way, all parameters learn.
    Training stops after ``patience`` epochs without improvement on the validation split (0: never), of two stages in
    the second. ``threads`` is the number of CPU threads; another number changes the last digits of sums.
    """

    epochs: int = 30
    batch: int = 128
    optimiser: str = "adam"
    rate: float = 2e-4
    decay: str = "step"
    step: int = 15
    weight_decay: float = 0.0
    clip: float = 2.0
    patience: int = 0
    threads: int = 1
    second_stage_epochs: int = 0
    second_stage_rate: float = 2e-5

    @property
    def all_epochs(self) -> int:
        """The epochs of both stages."""
        return self.epochs + self.second_stage_epochs

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Read an annotator's settings; missing ones get the defaults above."""
        return cls(**{name: settings[name] for name in vars(cls()).keys() & settings.keys()})  # type: ignore[arg-type]

    def rate_at(self, epoch: int) -> float:
        """Return the learning rate of an epoch, numbered from 1."""
        if epoch <= self.epochs:
            return self.rate * self._share_left(epoch - 1, self.epochs)
        return self.second_stage_rate * self._share_left(epoch - self.epochs - 1, self.second_stage_epochs)

    def _share_left(self, done: int, epochs: int) -> float:
        """Return the rate after ``done`` epochs of a stage as a share of its first."""
        if self.decay == "cosine":
            swing = (1 + cos(pi * done / max(1, epochs - 1))) / 2
            return LAST_SHARE + (1 - LAST_SHARE) * swing
        return 0.1 ** (done // self.step) if self.decay == "step" else 1.0


def training_options(**defaults: Value) -> Options:
    """Return the options of a training with an annotator's own defaults: ``training_options(epochs=13, rate=1e-3)``.

    Raises TypeError for an unknown setting.
    """
    own = Schedule(**defaults)  # type: ignore[arg-type]
    return {
        "epochs": number(own.epochs, "passes over the training pairs, 0 to 1000", min_value=0, max_value=1000),
        "batch": number(own.batch, "pairs a batch, 2 to 8192", min_value=2, max_value=8192),
        "optimiser": choice(own.optimiser, "adam, or adamp: Adam whose steps do not lengthen weights", OPTIMISERS),
        "rate": number(own.rate, "learning rate, above 0 and at most 1", max_value=1, checks=[above_zero]),
        "decay": choice(own.decay, "how the learning rate falls", ("step", "cosine", "none")),
        "step": number(own.step, "with decay=step: epochs after which the rate is divided by 10", min_value=1),
        "weight_decay": number(own.weight_decay, "weight decay as in AdamW, 0 to 1", min_value=0, max_value=1),
        "clip": number(own.clip, "norm to which gradients are clipped; 0: no clipping", min_value=0),
        "patience": number(
            own.patience, "epochs without improvement after which training stops; 0: never", min_value=0
        ),
        "threads": number(own.threads, "number of CPU threads", min_value=1, max_value=1024),
    }
