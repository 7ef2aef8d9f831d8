"""The layout of the captions under a path, their files, and the folder of their pictures."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from core.errors import CounterpartError, some_of
from core.files.zip_files import is_archive, unpack
from core.progress import Progress, silent
from core.text import counted
from corpus.pictures.stored_pictures import NAMED as PICTURES
from corpus.readers.record import Notes, Record
from corpus.splits import FOLDED, split_of_name
from counterpart_metrics.text_files import check_encoding, opened

HEAD = 1 << 16  # bytes that recognisers see
CAPTIONS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".token", ".caption", ".parquet", ".gz")
ARCHIVES = (".zip", ".tar", ".tgz")
UNPACKED = "unpacked"
TABLES = ("jsonl", "table")  # the layouts that a folder's own reader reads with the pictures
SPLIT_OR_NUMBER = re.compile(rf"({'|'.join(FOLDED)})(20\d\d)?|\d+")


@dataclass(frozen=True)
class Layout:
    """A layout of captions. ``fits`` recognises it by a file, or a folder, and the text that the file begins with."""

    name: str
    title: str
    read: Callable[[Path, Notes], Iterator[Record]]
    fits: Callable[[Path, str], bool]


@dataclass(frozen=True)
class Found:
    """Captions of a layout: their files, or their folder, and the folder of the pictures, if it is known."""

    layout: Layout
    files: tuple[Path, ...]
    pictures: Path | None = None

    def records(self, notes: Notes) -> Iterator[Record]:
        for file in self.files:
            yield from self.layout.read(file, notes)

    def contents(self, notes: Notes) -> str:
        """Return what would be read, for people who have to choose."""
        try:
            records = list(self.records(Notes(notes.pictures)))
        except CounterpartError as error:
            return f"{self.layout.name} ({error})"
        images = counted(len({record.image for record in records}), "image")
        captions = counted(sum(record.text is not None for record in records), "caption")
        return f"{self.layout.name} ({some_of([file.name for file in self.files])}: {images}, {captions})"


def inside(folder: Path, *suffixes: str) -> Iterator[str]:
    """Yield the paths in the folder of its files with these suffixes, all without any, sorted."""
    for file in sorted(folder.rglob("*")):
        if (not suffixes or file.suffix.lower() in suffixes) and not file.name.startswith(".") and file.is_file():
            yield file.relative_to(folder).as_posix()


def stem_of(name: str) -> str:
    return name.rpartition(".")[0]


def shape_of(name: str) -> tuple[str, ...]:
    """Return what files of one data set have in common: the words of the name that are no split and no number."""
    words = re.split(r"[^a-z0-9]+", PurePosixPath(name).name.lower())
    return tuple(word for word in words if not SPLIT_OR_NUMBER.fullmatch(word))


def unpacked(path: Path, notes: Notes, progress: Progress = silent, *, within: str = "") -> Path:
    """Return the folder that an archive is unpacked to, in ``notes.pictures``; any other path itself.

    A split in the name of the archive becomes that of a folder above its files.
    """
    if not is_archive(path):
        return path
    root = notes.pictures / UNPACKED
    split = split_of_name(path.name)
    folder = root / split / within if split or within else root / path.name.partition(".")[0]
    folder.parent.mkdir(parents=True, exist_ok=True)
    left_out: list[str] = []
    found = unpack(path, folder, suffixes=(*PICTURES, *CAPTIONS, *ARCHIVES), left_out=left_out, progress=progress)
    notes.leave_out(left_out)
    return root if split else found


class CaptionSearch:
    """Finds the captions under a path. The first layout that fits a file counts."""

    def __init__(self, layouts: dict[str, Layout], notes: Notes, *, format: str = "") -> None:
        if format and format not in layouts:
            raise CounterpartError(f"Unknown format {format!r}: use one of {', '.join(layouts)}.")
        self._layouts = layouts
        self._notes = notes
        self._format = format

    def find(self, path: Path, progress: Progress = silent) -> Found:
        """Raise CounterpartError where no layout fits, and where several do, with what each would read."""
        path = unpacked(path, self._notes, progress)
        wanted = self._layouts.get(self._format)
        if path.is_dir():
            found = self._in_folder(path, progress)
        elif wanted:
            found = [Found(wanted, (path,))]
        else:
            found = [Found(layout, (path,)) for layout in self.fitting(path)]
        if len(found) == 1:
            if path.is_dir() and path not in found[0].files:  # the reader of a folder notes it itself
                others = (name for name in inside(path) if path / name not in found[0].files)
                self._notes.leave_out(name for name in others if not name.lower().endswith(PICTURES + ARCHIVES))
            return found[0]
        if not found:
            layouts = "; ".join(f"{layout.title} ({layout.name})" for layout in self._layouts.values())
            raise CounterpartError(
                f"{path.name} has no captions or pictures that can be read{f' as {self._format}' if wanted else ''}. "
                f"Layouts: {layouts}. A table begins with a line of column names, such as image, caption."
            )
        ways = "; ".join(one.contents(self._notes) for one in found)
        one_layout = len({one.layout.name for one in found}) == 1
        choice = "Pass one of the files as PATH and the folder with --images" if one_layout else "Choose with --format"
        raise CounterpartError(f"{path.name} can be read in {len(found)} ways: {ways}. {choice}.")

    def fitting(self, path: Path) -> list[Layout]:
        """Return the layout that the file or folder has, or []."""
        head = ""
        if path.is_file():
            with opened(path) as file:
                begin = file.read(HEAD)
            check_encoding(path.name, begin)
            head = begin.decode(errors="replace").lstrip("\ufeff \t\r\n")
        fitting = (layout for layout in self._layouts.values() if layout.fits(path, head))
        return list(islice(fitting, 1))

    def guess(self, found: Found) -> str:
        """Return a sentence on the layout that a file has, if it is not the one that was asked for."""
        fitting = self.fitting(found.files[0]) if self._format and found.files[0].is_file() else []
        if not fitting or fitting[0].name == self._format:
            return ""
        return f" It looks like {fitting[0].title}: use --format {fitting[0].name}, or leave it out."

    def _in_folder(self, folder: Path, progress: Progress) -> list[Found]:
        if whole := [layout for layout in self.fitting(folder) if self._format in ("", layout.name)]:
            return [Found(whole[0], (folder,))]
        pictures = {stem_of(name) for name in inside(folder, *PICTURES)}
        sets: dict[tuple[str, ...], list[Path]] = {}
        for name in inside(folder, *CAPTIONS):
            if stem_of(name) not in pictures:
                for layout in self.fitting(folder / name):
                    sets.setdefault((layout.name, *shape_of(name)), []).append(folder / name)
        root: Path | None = folder if pictures else self._archives_in(folder, progress)
        if root not in (folder, None) and not sets:
            return self._in_folder(root, progress)
        tables = [key for key in sets if key[0] in TABLES]
        if root == folder and self._format in ("", "folder") and (tables or not sets):
            for key in tables:
                del sets[key]
            return [Found(self._layouts["folder"], (folder,), folder), *self._sets(sets, root)]
        return self._sets(sets, root)

    def _sets(self, sets: dict[tuple[str, ...], list[Path]], pictures: Path | None) -> list[Found]:
        """Return the data sets of a folder, of the wanted format only if there is one."""
        wanted = TABLES if self._format in TABLES else (self._format,) if self._format else tuple(self._layouts)
        named = ((self._layouts[self._format or key[0]], files) for key, files in sets.items() if key[0] in wanted)
        return [Found(layout, tuple(files), pictures) for layout, files in named]

    def _archives_in(self, folder: Path, progress: Progress) -> Path | None:
        """Unpack the archives of a folder without pictures; return the folder that they are in."""
        root = self._notes.pictures / UNPACKED
        archives = [file for name in inside(folder, *ARCHIVES, ".gz") if is_archive(file := folder / name)]
        for archive in archives if folder != root else []:
            within = archive.relative_to(folder)
            unpacked(archive, self._notes, progress, within=f"{within.parent / within.name.partition('.')[0]}")
        return root if archives and folder != root else None
