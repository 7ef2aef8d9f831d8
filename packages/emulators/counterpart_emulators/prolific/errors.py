"""Errors of the API. Its error codes are unpublished: a client goes by the status and by what it reads back."""

from collections.abc import Mapping
from typing import Any, TypeVar

Row = TypeVar("Row")
Detail = str | list[str] | Mapping[str, list[str]]

TITLES = {
    400: "Bad request",
    401: "Unauthorised",
    404: "Not found",
    405: "Method not allowed",
    429: "Too many requests",
}


class ProlificError(Exception):
    """A refused call. ``detail`` is a sentence, or sentences by field."""

    def __init__(self, detail: Detail, *, status: int = 400) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status

    def as_json(self, *, bare: bool) -> dict[str, Any]:
        """Return the error as it is sent; some endpoints document it ``bare``, without the object around it."""
        error = {
            "status": self.status,
            "error_code": 140_000 + self.status,
            "title": TITLES.get(self.status, "Error"),
            "detail": self.detail,
            "additional_information": "",
        }
        return error if bare else {"error": error}


def not_found(kind: str, row_id: str) -> ProlificError:
    return ProlificError(f"{kind} {row_id} was not found.", status=404)


def find(table: Mapping[str, Row], row_id: str, kind: str) -> Row:
    """Return the row of a table with an id. Raises ProlificError for an unknown one."""
    if row_id not in table:
        raise not_found(kind, row_id)
    return table[row_id]


def invalid(field: str, text: str) -> ProlificError:
    """Return the error for an invalid value in a field of the body."""
    return ProlificError({field: [text]})
