"""A look at what an import would write, before it writes anything: for the command, the page and the API."""

import re
import unicodedata
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

from PIL import Image as Pillow

from core.errors import some_of
from core.progress import Progress, silent
from core.text import counted, text_table
from corpus.imports import PreparedImport
from corpus.models import Image
from corpus.pictures.stored_pictures import NAMED, picture_faults, shown

SHOWN = 3  # examples
WIDTH = 320  # pixels of an example on a page
PADDED = re.compile(r"0+[0-9]+")


@dataclass(frozen=True)
class SplitLook:
    """A split with its images and new captions, and whether the images become gallery; None where that is undecided."""

    name: str
    images: int
    captions: int
    gallery: bool | None


@dataclass(frozen=True)
class ExampleLook:
    """A caption and the file of its picture with its size; ``picture`` is a small copy as a ``data:`` address."""

    caption: str
    text: str
    image: str
    file: str
    width: int | None
    height: int | None
    picture: str


@dataclass(frozen=True)
class ImportLook:
    """What an import would write into a collection, and what it would leave out; ``troubles`` refuse it."""

    collection: str
    layout: str
    format: str
    files: Sequence[str]
    images: int
    captions: int
    captions_there: int
    pictures: int
    splits: Sequence[SplitLook]
    examples: Sequence[ExampleLook]
    names_found_twice: Sequence[str]
    doubtful_ids: Sequence[str]
    missing_pictures: Sequence[str]
    broken_pictures: Sequence[str]
    bad_rows: Sequence[str]
    left_out: Sequence[str]
    troubles: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"notes": self.notes}

    @property
    def notes(self) -> list[str]:
        """What a person should read before the import, a line each."""
        kinds = {
            "Names found twice": self.names_found_twice,
            "Ids in doubt": self.doubtful_ids,
            "Missing pictures": self.missing_pictures,
            "Broken pictures": self.broken_pictures,
            "Bad rows": self.bad_rows,
            "Left out": self.left_out,
        }
        lines = [f"{kind} ({len(names):,}): {some_of(list(names))}." for kind, names in kinds.items() if names]
        if self.images and not any(split.gallery for split in self.splits):
            lines.append("No image becomes gallery, so nothing can be searched. Name a split with --gallery.")
        return lines

    def __str__(self) -> str:
        there = f" ({self.captions_there:,} already imported)" if self.captions_there else ""
        counts = (counted(self.images, "image"), f"{counted(self.captions, 'caption')}{there}")
        lines = [f"{self.collection}: {self.layout}, {some_of(list(self.files))}"]
        lines.append(f"{', '.join(counts)}, {counted(self.pictures, 'picture')}")
        use = {True: "gallery", False: "training", None: "undecided"}
        rows = [
            [split.name or "(no split)", f"{split.images:,}", f"{split.captions:,}", use[split.gallery]]
            for split in self.splits
        ]
        lines.append(text_table(("split", "images", "captions", "becomes"), rows))
        for example in self.examples:
            size = f", {example.width} x {example.height}" if example.width else ", no picture"
            lines.append(f"  “{example.text.strip()[:100]}” - {example.file}{size}")
        return "\n".join([*lines, *self.notes, *self.troubles])


def look_at(prepared: PreparedImport, *, progress: Progress = silent) -> ImportLook:
    """Describe a prepared import; every picture is decoded, to name the broken ones."""
    contents = prepared.contents
    broken = picture_faults(prepared.files, progress)
    names = [f"{prepared.files[key].name} ({reason})" for key, reason in broken.items()]
    keys = defaultdict[str, list[str]](list)
    for key, (file_name, _split) in contents.images.items():
        keys[file_name].append(key)
    return ImportLook(
        collection=prepared.name,
        layout=prepared.found.layout.title,
        format=prepared.found.layout.name,
        files=[file.name for file in prepared.found.files],
        images=len(contents.images),
        captions=len(contents.new_captions) + contents.captions_there,
        captions_there=contents.captions_there,
        pictures=len(prepared.files) - len(broken),
        splits=_splits(prepared),
        examples=_examples(prepared, broken.keys()),
        names_found_twice=[f"{name} (images {some_of(found)})" for name, found in keys.items() if len(found) > 1],
        doubtful_ids=_doubtful(chain(contents.images, contents.new_captions)),
        missing_pictures=prepared.missing,
        broken_pictures=names,
        bad_rows=[f"{place} ({why})" for place, why in prepared.notes.faults],
        left_out=[f"{name} ({why})" for name, why in [*prepared.notes.left_out, *_unnamed(prepared)]],
        troubles=[
            *prepared.troubles,
            *([f"{counted(len(broken), 'picture is', 'pictures are')} broken: pass --skip-broken."] if broken else []),
        ]
        if not prepared.skip_broken
        else prepared.troubles,
    )


def _splits(prepared: PreparedImport) -> list[SplitLook]:
    contents = prepared.contents
    images = Counter(split for _name, split in contents.images.values())
    captions = Counter(contents.images[image][1] for image, _text in contents.new_captions.values())
    gallery = {split: split not in Image.TRAINING_SPLITS for split in images}
    undecided: dict[str, bool | None] = dict.fromkeys(prepared.undecided)
    return [SplitLook(split, n, captions[split], (gallery | undecided)[split]) for split, n in images.most_common()]


def _examples(prepared: PreparedImport, broken: Iterable[str]) -> list[ExampleLook]:
    """Return captions from the beginning, the middle and the end, of the gallery and with pictures if there are any."""
    contents = prepared.contents
    without = set(broken)

    def rank(caption: str) -> tuple[bool, bool]:
        image = contents.new_captions[caption][0]
        has_picture = image in prepared.files and image not in without
        return not has_picture, contents.images[image][1] in Image.TRAINING_SPLITS

    captions = list(contents.new_captions)
    best = min(map(rank, captions), default=None)
    fitting = [caption for caption in captions if rank(caption) == best]
    places = sorted({0, len(fitting) // 2, len(fitting) - 1}) if fitting else []
    return [_example(prepared, fitting[place], without) for place in places[:SHOWN]]


def _example(prepared: PreparedImport, caption: str, broken: set[str]) -> ExampleLook:
    image, text = prepared.contents.new_captions[caption]
    name = prepared.contents.images[image][0]
    if image not in prepared.files or image in broken:
        return ExampleLook(caption, text, image, name, None, None, "")
    file = prepared.files[image]
    picture = shown(file.read_bytes())
    width, height = picture.size
    picture.thumbnail((WIDTH, WIDTH), Pillow.Resampling.LANCZOS)
    buffer = BytesIO()
    picture.convert("RGB").save(buffer, "JPEG", quality=78)
    address = f"data:image/jpeg;base64,{b64encode(buffer.getvalue()).decode()}"
    return ExampleLook(caption, text, image, _path_of(prepared, file), width, height, address)


def _path_of(prepared: PreparedImport, file: Path) -> str:
    """Return the path of a picture as people know it: below their folder."""
    folder = prepared.folder
    return file.relative_to(folder).as_posix() if folder and file.is_relative_to(folder) else file.name


def _doubtful(keys: Iterable[str]) -> list[str]:
    """Return ids that other files may write in another way, and ids that differ in nothing but that."""
    alike = defaultdict[str, list[str]](list)
    for key in keys:
        plain = unicodedata.normalize("NFC", key).casefold()
        alike[plain.lstrip("0") if PADDED.fullmatch(plain) else plain].append(key)
    several = [" and ".join(sorted(set(same))) for same in alike.values() if len(set(same)) > 1]
    padded = sum(bool(PADDED.fullmatch(same[0])) for same in alike.values())
    return [*several, *([f"{counted(padded, 'id')} with leading zeros"] if padded else [])]


def _unnamed(prepared: PreparedImport) -> list[tuple[str, str]]:
    """Return the pictures of the folder that no image has."""
    if not prepared.folder:
        return []
    used = set(prepared.files.values())
    files = (file for file in sorted(prepared.folder.rglob("*")) if file.suffix.lower() in NAMED)
    return [
        (file.relative_to(prepared.folder).as_posix(), "no caption names it")
        for file in files
        if file not in used and file.is_file() and not file.name.startswith(".")
    ]
