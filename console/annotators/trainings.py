"""The training of an annotator, as its page shows it."""

from dataclasses import dataclass
from typing import Any

from counterpart_annotators.training.learners import in_order
from mitl.charts.drawing import Chart
from mitl.charts.lines import curve_chart
from mitl.models import Annotator


@dataclass(frozen=True)
class Training:
    """The finished epochs of an annotator's newest training; ``of`` is the maximum number of epochs."""

    epochs: list[dict[str, Any]]
    of: int
    under_way: bool

    @property
    def chart(self) -> Chart:
        """The loss and what was measured on the validation split, over the epochs."""
        return curve_chart("Training", self.epochs)

    @property
    def newest(self) -> dict[str, Any] | None:
        """The last finished epoch."""
        return self.epochs[-1] if self.epochs else None


def training_of(annotator: Annotator) -> Training:
    """Return the state of the training. An interrupted one counts as under way until it is started again."""
    epochs = [{**epoch, "validation": in_order(epoch["validation"])} for epoch in annotator.curve]
    finished = bool(epochs) and annotator.trained_on.get("loss_last") == round(epochs[-1]["loss"], 4)
    return Training(epochs, int(annotator.options.get("epochs", 0)), bool(epochs) and not finished)
