"""A folder of pictures, with captions in a CSV, in .txt files with the pictures' names, or without captions."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from core.errors import CounterpartError, some_of
from corpus.input_files import at, csv_header, csv_rows, lines
from corpus.readers.record import Record, bare_image, caption_record

PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp")
FILE_COLUMNS = ("file_name", "file", "image")
TEXT_COLUMNS = ("text", "caption", "description")


def read_folder(path: Path) -> Iterator[Record]:
    """Yield the captions of a folder's pictures, including subfolders, sorted by name, and the pictures without any.

    Captions come from ``captions.csv`` or the folder's only CSV (a column file_name, file or image; a column text,
    caption or description; optionally caption_id and split), otherwise from the picture's ``.txt``, one per line.
    Images are keyed by their path in the folder, captions by ``<path>#<n>`` unless they have an id.
    """
    if not path.is_dir():
        raise CounterpartError(f"{path} is not a folder. Pass the folder of the pictures.")
    table = _table(path)
    pictures = sorted(_inside(path, *PICTURES))
    return _from_table(table, pictures) if table else _from_sidecars(path, pictures)


def _inside(folder: Path, *suffixes: str) -> Iterator[str]:
    for file in folder.rglob("*"):
        if file.suffix.lower() in suffixes and not file.name.startswith(".") and file.is_file():
            yield file.relative_to(folder).as_posix()


def _table(folder: Path) -> Path | None:
    tables = sorted(file for file in folder.iterdir() if file.suffix.lower() == ".csv")
    named = [file for file in tables if file.name.lower() == "captions.csv"]
    if len(tables) > 1 and not named:
        raise CounterpartError(
            f"{folder} has {len(tables)} CSV files: {some_of([t.name for t in tables])}. "
            "Rename the one with the captions to captions.csv."
        )
    return next(iter(named or tables), None)


def _from_table(table: Path, pictures: list[str]) -> Iterator[Record]:
    file_column = _column(table, FILE_COLUMNS)
    text_column = _column(table, TEXT_COLUMNS)
    places: Counter[str] = Counter()
    without = dict.fromkeys(pictures, "")
    for number, row in csv_rows(table):
        file_name = row[file_column]
        text = row[text_column]
        if not text:
            if file_name in without:
                without[file_name] = row.get("split", "")
            continue
        with at(table, "line", number):
            record = caption_record(
                image=file_name,
                file_name=file_name,
                caption=row.get("caption_id") or f"{file_name}#{places[file_name]}",
                text=text,
                split=row.get("split", ""),
            )
        places[file_name] += 1
        without.pop(file_name, None)
        yield record
    for file_name, split in without.items():
        with at(table.parent / file_name, "picture", 1):
            record = bare_image(image=file_name, file_name=file_name, split=split)
        yield record


def _column(table: Path, names: tuple[str, ...]) -> str:
    header = csv_header(table)
    present = [name for name in names if name in header]
    if not present:
        raise CounterpartError(
            f"{table.name} has no column named {', '.join(names[:-1])} or {names[-1]}; it has {some_of(header)}."
        )
    return present[0]


def _from_sidecars(folder: Path, pictures: list[str]) -> Iterator[Record]:
    sidecars = {text.removesuffix(Path(text).suffix): text for text in sorted(_inside(folder, ".txt"))}
    orphans = sorted(sidecars.keys() - {file.removesuffix(Path(file).suffix) for file in pictures})
    if orphans:
        raise CounterpartError(
            f"{len(orphans)} .txt files have no picture of the same name: {some_of([sidecars[o] for o in orphans])}. "
            "Add the pictures or remove the texts."
        )
    for file_name in pictures:
        yield from _one_picture(folder, file_name, sidecars.get(file_name.removesuffix(Path(file_name).suffix)))


def _one_picture(folder: Path, file_name: str, sidecar: str | None) -> Iterator[Record]:
    captions = list(lines(folder / sidecar)) if sidecar else []
    for place, (number, text) in enumerate(captions):
        with at(folder / file_name, "caption line", number):
            record = caption_record(image=file_name, file_name=file_name, caption=f"{file_name}#{place}", text=text)
        yield record
    if not captions:
        with at(folder / file_name, "picture", 1):
            record = bare_image(image=file_name, file_name=file_name)
        yield record
