"""The parameters of ``evaluate``, for the command and the pages."""

from pathlib import Path
from typing import Annotated, Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError

from core.parameters import Option, Parameters, PathField
from counterpart_metrics.policies import DEFAULT, Missing, Policies, Ties
from evaluation.scores.runs import MAX_MODEL


class ZetaField(forms.Field):
    """Whole numbers as a list, or as text with commas between them; cleaned to a tuple."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "array", "items": {"type": "integer", "minimum": 0}}

    def to_python(self, value: Any) -> tuple[int, ...]:
        numbers = value.split(",") if isinstance(value, str) else value or ()
        try:
            found = tuple(map(int, numbers))
            if min(found, default=0) < 0:
                raise ValueError(found)
        except (TypeError, ValueError) as error:
            raise ValidationError("Use whole numbers from 0 on, as in 0,1.") from error
        return found


class PlausibleParameters(Parameters):
    """Parameters of plausible matches (PMRP): the categories of objects in each image, and how many may differ."""

    categories: Annotated[
        Path | None,
        PathField(
            required=False,
            label="Categories of the images",
            help_text="COCO's instances_val2014.json, or {image: [categories]}, for plausible matches and pmrp",
        ),
    ] = None
    zeta: Annotated[
        tuple[int, ...],
        ZetaField(
            help_text="in how many categories plausible matches may differ, a column or source each; table 4 has 0, "
            "table 2 has 2"
        ),
        Option(metavar="Z,Z"),
    ] = (0,)


class EvaluateParameters(PlausibleParameters):
    """How rankings are named, read and measured; ``ties`` and ``missing`` are those of ``policies``."""

    ties: Annotated[
        Ties, "of equal scores, keep the file's order, ours or trec_eval's, or print the interval over all orders"
    ] = DEFAULT.ties
    missing: Annotated[Missing, "ranks beyond the end of a list are wrong, an interval, or refused"] = DEFAULT.missing
    model: Annotated[
        str,
        forms.CharField(
            required=False,
            max_length=MAX_MODEL,
            label="Name of the model",
            help_text="name of the model (default: the file's, without its suffix)",
        ),
    ] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.policies  # refuses two intervals

    @property
    def policies(self) -> Policies:
        return Policies(self.ties, self.missing)
