"""Every act that changed a marketplace, one line each, so that a restart can repeat them."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from counterpart_emulators.inputs import InputError


class JournalError(InputError):
    """A journal that cannot be read, or was written with other settings."""


@dataclass
class Journal:
    """An append-only file of JSON lines: the first holds the settings, each other one act and its instant.

    Without a ``path`` the entries are kept in memory only.
    """

    path: Path | None = None
    entries: list[dict[str, Any]] = field(default_factory=list)

    def begin(self, settings: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the acts of an existing journal with these settings, or start a new one. Raises JournalError."""
        lines = _read(self.path) if self.path and self.path.exists() else []
        if not lines:
            self._append(settings)
            return []
        if lines[0] != settings:
            raise JournalError(
                f"{self.path} was written with other settings, {lines[0]}, not {settings}. "
                "Start with its settings or use another file."
            )
        self.entries = lines[1:]
        return list(self.entries)

    def write(self, act: str, at: datetime, arguments: dict[str, Any]) -> None:
        """Add an act that was done."""
        line = self._append({"at": at.isoformat(), "act": act, "arguments": arguments})
        self.entries.append(json.loads(line))

    def _append(self, entry: dict[str, Any]) -> str:
        line = json.dumps(entry, ensure_ascii=False, default=_pack)
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        return line


def seed_of(path: Path) -> int | None:
    """Return the seed in a journal's settings; None for a missing or empty file. Raises JournalError."""
    lines = _read(path) if path.exists() else []
    return lines[0].get("seed") if lines else None


def _read(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a file, and cut off an unfinished last line.

    The process died while it wrote such a line, so no client got an answer to that act. Raises JournalError for any
    other file, which is left unchanged.
    """
    try:
        whole, _, torn = path.read_text(encoding="utf-8").rpartition("\n")
    except UnicodeDecodeError as error:
        raise JournalError(f"{path} is not a journal: it is not text. Use another file.") from error
    entries: list[dict[str, Any]] = []
    for number, line in enumerate(filter(None, whole.split("\n")), start=1):
        try:
            entries.append(json.loads(line))
        except ValueError as error:
            raise JournalError(f"Line {number} of {path} is not JSON: {error}. Use another file.") from error
    if torn and not (entries and isinstance(entries[0], dict) and "seed" in entries[0]):
        raise JournalError(f"{path} is not a journal: its first line has no settings. Use another file.")
    if torn:
        path.write_text(whole + "\n", encoding="utf-8")
    return entries


def unpack(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an act's arguments with their instants."""
    arguments: dict[str, Any] = json.loads(json.dumps(entry["arguments"]), object_hook=_instant)
    return arguments


def _pack(value: datetime) -> dict[str, str]:
    return {"instant": value.isoformat()}


def _instant(value: dict[str, Any]) -> Any:
    return datetime.fromisoformat(value["instant"]) if value.keys() == {"instant"} else value
