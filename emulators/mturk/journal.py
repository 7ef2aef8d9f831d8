"""Every act that changed the marketplace, a line each, so that a restart can make them again."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

TAIL = 200  # entries kept in memory for those who look


class JournalError(Exception):
    """A journal that cannot be read, or belongs to another world."""


@dataclass
class Journal:
    """An append-only file of JSON lines: the first describes the world, each other one act at its instant.

    Without a ``path`` the entries are kept in memory only.
    """

    path: Path | None = None
    entries: list[dict[str, Any]] = field(default_factory=list)

    def begin(self, world: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the acts of an existing journal of this world, or begin one. Raises JournalError."""
        lines = _read(self.path) if self.path and self.path.exists() else []
        if not lines:
            self._append(world)
            return []
        if lines[0] != world:
            raise JournalError(
                f"{self.path} is the journal of another world, {lines[0]}, not {world}; "
                "start with its settings, or name another file."
            )
        self.entries = lines[1:]
        return self.entries

    def write(self, act: str, at: datetime, arguments: dict[str, Any]) -> None:
        """Add an act that has been done."""
        entry = {"at": at.isoformat(), "act": act, "arguments": pack(arguments)}
        self.entries.append(entry)
        self._append(entry)

    def tail(self) -> list[dict[str, Any]]:
        """Return the latest entries, oldest first."""
        return self.entries[-TAIL:]

    def _append(self, entry: dict[str, Any]) -> None:
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def seed_of(path: Path) -> int | None:
    """Return the seed of the world that a journal describes; None without one. Raises JournalError."""
    lines = _read(path) if path.exists() else []
    return lines[0].get("seed") if lines else None


def _read(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a file, and cut off a last line that was not written to its end.

    The process died while it wrote such a line, so nobody was told that the act was done. Raises JournalError for any
    other file, which is left as it is.
    """
    try:
        whole, _, torn = path.read_text(encoding="utf-8").rpartition("\n")
    except UnicodeDecodeError as error:
        raise JournalError(f"{path} is no journal, but no text at all. Name another file.") from error
    entries = _entries(path, whole)
    if torn and not (entries and isinstance(entries[0], dict) and "seed" in entries[0]):
        raise JournalError(f"{path} does not begin as a journal does. Name another file.")
    if torn:
        path.write_text(whole + "\n", encoding="utf-8")
    return entries


def _entries(path: Path, whole: str) -> list[dict[str, Any]]:
    entries = []
    for number, line in enumerate(filter(None, whole.split("\n")), start=1):
        try:
            entries.append(json.loads(line))
        except ValueError as error:
            raise JournalError(f"Line {number} of {path} is not JSON: {error}. Name another file.") from error
    return entries


def pack(value: Any) -> Any:
    """Return a value as JSON can hold it; an instant becomes ``{"instant": …}``."""
    if isinstance(value, datetime):
        return {"instant": value.isoformat()}
    if isinstance(value, dict):
        return {key: pack(each) for key, each in value.items()}
    return [pack(each) for each in value] if isinstance(value, list) else value


def unpack(value: Any) -> Any:
    """Return what ``pack`` was given."""
    if isinstance(value, dict):
        if value.keys() == {"instant"}:
            return datetime.fromisoformat(value["instant"])
        return {key: unpack(each) for key, each in value.items()}
    return [unpack(each) for each in value] if isinstance(value, list) else value
