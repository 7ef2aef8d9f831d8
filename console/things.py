"""A kind of thing for the commands list, show, remove and rename."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet
from ninja import Schema

from core.errors import CounterpartError
from core.files.stored_files import StoredFile
from core.text import check_name
from dataset.models import Version

Figures = dict[str, Any]


class Thing(ABC):
    """A kind of thing. ``key`` is the field that names a row, and ``made_by`` the command that makes one.

    ``answer`` is what the API says of each row in a list and ``detail`` of one row, if that is more; ``columns`` of
    the answer make a table. ``of_version`` leads from a version, whose manifest names it, to the row; ``removed`` is
    the verb of the event.
    """

    rows: QuerySet[Any]
    answer: type[Schema]
    detail: type[Schema] | None = None
    columns: tuple[str, ...]
    key = "name"
    of_version = ""
    removed = "removed"

    @property
    def made_by(self) -> str:
        return str(self.rows.model.made_by)

    @staticmethod
    def read(rows: Iterable[Any], /) -> Iterable[Any]:
        """Return rows as ``answer`` reads them, with the same number of queries for many rows as for one."""
        return rows

    def read_one(self, row: Any) -> Any:
        """Return a row as ``detail`` reads it."""
        (found,) = self.read([row])
        return found

    @abstractmethod
    def needed_by(self, row: Any) -> Mapping[str, Iterable[Any]]:
        """Return what depends on the row; with any, it cannot be removed."""

    def lock(self, row: Any) -> None:  # noqa: B027  most need no lock but their own
        """Make those wait who would begin to depend on the row, which is locked."""

    def delete(self, row: Any, *, actor: str) -> list[StoredFile]:
        """Delete the row; return the stored files that go with it."""
        row.delete()
        return []

    def named_by(self, row: Any) -> Mapping[str, Iterable[Any]]:
        """Return what names the row for good; with any, it cannot be renamed."""
        return {"versions": Version.objects.filter(**{self.of_version: row}).distinct() if self.of_version else []}

    def rename(self, row: Any, name: str) -> None:
        """Give the row another name. Its files stay where they are: rows know their paths."""
        if self.key != "name":
            raise CounterpartError(f"{row} has a number, which cannot be changed.")
        check_name(name)
        row.name = name
        row.save(update_fields=["name"])
