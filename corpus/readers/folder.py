"""A folder of pictures, with captions in tables, such as Hugging Face's metadata files, in texts with the pictures'
names, as in the shards of WebDataset, or without captions."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from core.errors import CounterpartError, some_of
from core.untrusted import read_json
from corpus.input_files import lines
from corpus.pictures.stored_pictures import NAMED as PICTURES
from corpus.pictures.stored_pictures import find_pictures
from corpus.readers.layouts import CAPTIONS, Layout, inside, shape_of, stem_of
from corpus.readers.record import Notes, Record, bare_image, caption_record, noted
from corpus.readers.table import is_table, read_table

TEXTS = (".txt", ".caption", ".json")  # the first that a picture has counts
ABOUT = re.compile(r"readme|licen[cs]e|citation|requirements")
NAMED = ("metadata", "captions")
SEPARATED = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")


def read_folder(path: Path, notes: Notes) -> Iterator[Record]:
    """Yield the captions of a folder's pictures, including subfolders, and then the pictures without any.

    Captions come from the tables that are named metadata or captions, in any folder, or the only other ones, whose file
    names begin at their folder; otherwise from the text of the picture's name, one per line. Images are keyed by their
    path in the folder, captions by ``<path>#<n>`` unless they have an id.
    """
    if not path.is_dir():
        raise CounterpartError(f"{path} is not a folder. Pass the folder of the pictures.")
    pictures = list(inside(path, *PICTURES))
    tables = tables_of(path, pictures)
    stems = set() if tables else {stem_of(picture) for picture in pictures}
    used = {*tables, *pictures}
    notes.leave_out(name for name in inside(path) if name not in used and stem_of(name) not in stems)
    yield from _from_tables(path, tables, pictures, notes) if tables else _from_texts(path, pictures, notes)


def tables_of(folder: Path, pictures: list[str]) -> list[str]:
    """Return the tables of a folder's captions: those with such a name, else others with such columns, else any where
    the pictures have no texts, whose columns are then named as wrong. Raises CounterpartError for several others."""
    stems = {stem_of(picture) for picture in pictures}
    others = list(inside(folder, *CAPTIONS))
    loose = [name for name in others if stem_of(name) not in stems]
    named = [name for name in loose if name.endswith(SEPARATED) and shape_of(name)[0] in NAMED]
    tables = [name for name in loose if name in named or is_table(folder / name)]
    chosen = named or [name for name in tables if "/" not in name] or tables
    if not chosen and len(loose) == len(others):
        chosen = [name for name in loose if "/" not in name and name.endswith(SEPARATED)]
    if len({shape_of(name) for name in chosen}) > 1:
        raise CounterpartError(
            f"{folder.name} has {len(chosen)} tables of captions: {some_of(chosen)}. Pass one of them as PATH and the "
            "folder with --images, or rename the one with the captions to captions."
        )
    return chosen


def _from_tables(folder: Path, tables: list[str], pictures: list[str], notes: Notes) -> Iterator[Record]:
    records: list[Record] = []
    for table in tables:
        base = PurePosixPath(table).parent.as_posix()
        records += read_table(folder / table, notes, folder="" if base == "." else base)
    found = find_pictures(folder, {record.image: record.file_name for record in records})
    for record in records:
        if record.text is not None or found[record.image] or (notes.pictures / record.file_name).is_file():
            yield record
    used = {path.relative_to(folder).as_posix() for path in found.values() if path}
    for picture in pictures:
        if picture not in used:
            yield from _bare(folder, picture, notes)


def _from_texts(folder: Path, pictures: list[str], notes: Notes) -> Iterator[Record]:
    texts = {name: stem_of(name) for suffix in TEXTS for name in inside(folder, suffix)}
    of_stem: dict[str, str] = {}
    for text, stem in texts.items():
        of_stem.setdefault(stem, text)
    for stem in sorted(of_stem.keys() - {stem_of(picture) for picture in pictures}):
        if not of_stem[stem].endswith(".json") and not ABOUT.match(PurePosixPath(stem).name.lower()):
            notes.faults.append((of_stem[stem], "no picture has the name of this text"))
    for picture in pictures:
        said = of_stem.get(stem_of(picture))
        captions = list(_lines(folder / said)) if said else []
        for place, (number, caption) in enumerate(captions):
            with noted(notes, folder / picture, "caption line", number):
                key = f"{picture}#{place}"
                yield caption_record(image=picture, file_name=picture, caption=key, text=caption)
        if not captions:
            yield from _bare(folder, picture, notes)


def _bare(folder: Path, picture: str, notes: Notes) -> Iterator[Record]:
    with noted(notes, folder / picture, "picture", 1):
        yield bare_image(image=picture, file_name=picture)


def _lines(text: Path) -> Iterator[tuple[int, object]]:
    """Yield (number, caption): the lines, or what a JSON object has as its caption."""
    if text.suffix.lower() != ".json":
        yield from lines(text)
        return
    fields = read_json("\n".join(line for _number, line in lines(text)))
    said = next((fields[name] for name in ("caption", "text", "captions") if name in fields), None)
    yield from enumerate(said if isinstance(said, list) else [] if said is None else [said], 1)


LAYOUT = Layout("folder", "pictures with tables or texts", read_folder, lambda path, head: False)
