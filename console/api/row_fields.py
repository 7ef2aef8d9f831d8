"""Fields of answers that are read from rows: the name of another row, and the address of a row's own call."""

from functools import partial
from typing import Annotated, Any

from django.urls import reverse
from pydantic import BeforeValidator


def _read(attribute: str, row: Any) -> Any:
    """Return the attribute of another row; values that are no rows, such as None, unchanged."""
    return getattr(row, attribute, row)


Named = Annotated[str, BeforeValidator(partial(_read, "name"))]
"""The name of another row."""
Keyed = Annotated[str, BeforeValidator(partial(_read, "key"))]
"""The key of an image or a caption."""
Username = Annotated[str, BeforeValidator(partial(_read, "username"))]
"""The name of a person's account."""


def address(call: str) -> BeforeValidator:
    """Read a name or an id as the address of the call that describes the row."""
    return BeforeValidator(lambda key: reverse(f"api:{call}", args=[key]))
