from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
from django import forms

from console.api.operations import read_body
from core.errors import CounterpartError
from core.parameters import Parameters


class PlaceField(forms.Field):
    """Text that becomes a path."""

    def to_python(self, value: str) -> Path:
        return Path(value)


@dataclass(frozen=True, kw_only=True)
class Shearing(Parameters):
    """Parameters whose description does not say that a text becomes a path."""

    flock: Annotated[str | Path, PlaceField(help_text="flock to shear")]


def test_a_text_that_becomes_a_path_is_refused():
    with pytest.raises(CounterpartError, match="/etc/passwd"):
        read_body(Shearing, {"flock": "/etc/passwd"}, {})
