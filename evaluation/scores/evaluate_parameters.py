"""The parameters of ``evaluate``, for the command and the pages."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError

from core.parameters import Option, PathField
from evaluation.scores.policies import Policies
from evaluation.scores.runs import MAX_MODEL


class ZetaField(forms.Field):
    """Whole numbers as a list, or as text with commas between them; cleaned to a tuple."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "array", "items": {"type": "integer", "minimum": 0}}

    def to_python(self, value: Any) -> tuple[int, ...]:
        numbers = value.split(",") if isinstance(value, str) else value or ()
        try:
            return tuple(map(int, numbers))
        except (TypeError, ValueError) as error:
            raise ValidationError("Use whole numbers, as in 0,1.") from error


@dataclass(frozen=True, kw_only=True)
class EvaluateParameters(Policies):
    """How rankings are named, read and measured."""

    model: Annotated[
        str,
        forms.CharField(
            required=False,
            max_length=MAX_MODEL,
            label="Name of the model",
            help_text="name of the model (default: the file's, without its suffix)",
        ),
    ] = ""
    categories: Annotated[
        Path | None,
        PathField(
            required=False,
            label="Categories of the images",
            help_text="COCO's instances_val2014.json, which pmrp needs",
        ),
    ] = None
    zeta: Annotated[
        tuple[int, ...],
        ZetaField(
            help_text="of pmrp: in how many categories plausible matches may differ, a column each; table 4 has 0"
        ),
        Option(metavar="Z,Z"),
    ] = (0,)
