"""The training of an annotator, as its page shows it."""

from dataclasses import dataclass
from typing import Any

from counterpart_annotators.training.learners import in_order
from mitl.annotators import kind_of
from mitl.charts.drawing import chart_bytes
from mitl.charts.lines import curve_chart
from mitl.models import Annotator


@dataclass(frozen=True)
class Training:
    """The finished epochs of an annotator's newest training; ``of`` is the maximum number of epochs."""

    epochs: list[dict[str, Any]]
    of: int
    under_way: bool

    @property
    def newest(self) -> dict[str, Any] | None:
        """The last finished epoch."""
        return self.epochs[-1] if self.epochs else None


def training_of(annotator: Annotator) -> Training:
    """Return the state of the training. An interrupted one counts as under way until it is started again."""
    epochs = [{**epoch, "validation": in_order(epoch["validation"])} for epoch in annotator.curve]
    finished = bool(epochs) and annotator.trained_on.get("loss_last") == round(epochs[-1]["loss"], 4)
    return Training(epochs, int(annotator.options.get("epochs", 0)), bool(epochs) and not finished)


def learns(annotator: Annotator) -> bool:
    """Whether the annotator can be trained here: its kind learns, and its weights are not an imported checkpoint."""
    return kind_of(annotator.kind).learns and not (annotator.checkpoint and not annotator.trained_on)


def losses_of(annotator: Annotator) -> tuple[str, ...]:
    """Return the losses to choose from, the default first; empty if the kind has only one."""
    return kind_of(annotator.kind).losses


def curve_of(annotator: Annotator) -> bytes:
    """Return the training curve as SVG."""
    return chart_bytes(curve_chart(f"{annotator}: {len(annotator.curve)} epochs", annotator.curve), ".svg")
