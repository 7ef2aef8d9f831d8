"""How a file of judgments begins: its kind and the names of its first record, by which readers recognise it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.errors import CounterpartError
from corpus.input_files import csv_header, json_records, opened

Kind = Literal["folder", "json", "csv", "tsv"]


@dataclass(frozen=True)
class Opening:
    """The kind of a file, and the names of its first record: keys of a JSON object, columns of a table, or the names
    of the files in a folder."""

    kind: Kind
    names: frozenset[str]

    def has(self, *names: str) -> bool:
        return self.names.issuperset(names)

    @property
    def delimiter(self) -> str:
        return "\t" if self.kind == "tsv" else ","


def opening_of(path: Path) -> Opening:
    """Read the beginning of a file. Raises CounterpartError if it is empty, unreadable, or begins with no record."""
    if path.is_dir():
        return Opening("folder", frozenset(file.name for file in path.rglob("*") if file.is_file()))
    with opened(path) as file:
        first = file.read(4096).lstrip()
    if not first:
        raise CounterpartError(f"{path.name} is empty. Export it again.")
    if first[:1] not in (b"[", b"{"):
        delimiter = "\t" if b"\t" in first.partition(b"\n")[0] else ","
        return Opening("tsv" if delimiter == "\t" else "csv", frozenset(csv_header(path, delimiter=delimiter)))
    record = next(json_records(path), None)
    if not isinstance(record, dict):
        raise CounterpartError(f"{path.name} has no records: a list or lines of JSON objects. Export it again.")
    return Opening("json", frozenset(record))
