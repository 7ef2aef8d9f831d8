"""A machine's training as its page shows it: how far it is, and its curve."""

from dataclasses import dataclass
from typing import Any

from mitl.annotators import module_of
from mitl.charts import chart_bytes, curve_chart
from mitl.models import Annotator
from mitl.training.learners import in_order


@dataclass(frozen=True)
class Training:
    """The epochs of a machine's newest training, as far as it is; ``of`` is how many there will be at most."""

    epochs: list[dict[str, Any]]
    of: int
    under_way: bool

    @property
    def newest(self) -> dict[str, Any] | None:
        """The last epoch that was finished."""
        return self.epochs[-1] if self.epochs else None


def training_of(annotator: Annotator) -> Training:
    """Read how far the training is. One that was stopped on the way is under way until it is begun again."""
    epochs = [{**epoch, "validation": in_order(epoch["validation"])} for epoch in annotator.curve]
    finished = bool(epochs) and annotator.trained_on.get("loss_last") == round(epochs[-1]["loss"], 4)
    return Training(epochs, int(annotator.options.get("epochs", 0)), bool(epochs) and not finished)


def learns(annotator: Annotator) -> bool:
    """Whether a machine can be trained here: it learns at all, and its weights were not brought along."""
    return hasattr(module_of(annotator.kind), "train") and not (annotator.checkpoint and not annotator.trained_on)


def losses_of(annotator: Annotator) -> tuple[str, ...]:
    """Return the losses that the machine learns with, its usual one first; none where it has no choice."""
    losses: tuple[str, ...] = getattr(module_of(annotator.kind), "LOSSES", ())
    return losses


def curve_of(annotator: Annotator) -> bytes:
    """Draw the curve as SVG."""
    return chart_bytes(curve_chart(f"{annotator}: {len(annotator.curve)} epochs", annotator.curve), ".svg")
