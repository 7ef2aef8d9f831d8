"""One rule for splits: what files and folders call them, and which images become the gallery."""

import re
from collections import Counter
from collections.abc import Collection
from os.path import commonpath
from pathlib import PurePosixPath
from shlex import quote

from core.errors import some_of
from core.text import counted
from corpus.models import Image

GALLERY = "gallery"
"""The split of images whose own split would be for training, and that a person wants to be searched."""
NAMES = {
    "train": ("train", "training", "trn", "trainset", "trainval"),
    "restval": ("restval",),
    "val": ("val", "valid", "validation", "dev", "development", "devel"),
    "test": ("test", "testing", "tst", "testset"),
    GALLERY: (GALLERY,),
}
FOLDED = {name: split for split, names in NAMES.items() for name in names}
WORDS = re.compile(r"[^a-z0-9]+")
OF_A_YEAR = re.compile(r"(train|val|test)20\d\d")  # COCO's folders; its val2014 is what many galleries are made of


def folded_split(written: str) -> str:
    """Return the split that is meant, "Train" and "training" as "train"; an unknown one as it is written.

    >>> folded_split("Validation"), folded_split("fold 1")
    ('val', 'fold 1')
    """
    return FOLDED.get(WORDS.sub("", written.casefold()), written.strip())


def split_of_name(name: str) -> str:
    """Return the split that the name of a caption file or an archive says, or "".

    >>> split_of_name("coco_karpathy_train.json"), split_of_name("captions_val2014.json")
    ('train', '')
    """
    said = (split_of_folder(word) for word in WORDS.split(name.casefold()))
    return next(filter(None, said), "")


def split_of_folder(name: str) -> str:
    """Return the split that a folder of this name has, or ""."""
    word = WORDS.sub("", name.casefold())
    year = OF_A_YEAR.fullmatch(word)
    return FOLDED.get("train" if year and year[1] == "train" else word, "")


def split_of_path(file_name: str) -> str:
    """Return the split that the first folder of a path says, or ""; of a path of some machine one of the last two.

    >>> split_of_path("data/train/cats/1.jpg"), split_of_path("/home/dev/images/1.jpg")
    ('train', '')
    """
    folders = PurePosixPath(file_name.replace("\\", "/")).parts[:-1]
    is_whole = folders and (folders[0] == "/" or folders[0].endswith(":"))
    return next(filter(None, map(split_of_folder, folders[-2:] if is_whole else folders)), "")


def splits_of_folders(pictures: Collection[str]) -> dict[str, str]:
    """Map the paths of pictures to the splits that their folders say: the first folders in which they differ, where one
    of those has the name of a split, or one above all of them. COCO's val2014 gives none."""
    folders = [PurePosixPath(picture).parent.parts for picture in pictures]
    common = PurePosixPath(commonpath(["/".join(parts) for parts in folders]) if folders else "").parts
    depth = next((n for n, folder in enumerate(common) if split_of_folder(folder)), len(common))
    known = {parts[depth]: split_of_folder(parts[depth]) for parts in folders if len(parts) > depth}
    if not any(known.values()):
        return {}
    known |= {name: name for name, split in known.items() if not split and not OF_A_YEAR.fullmatch(name)}
    return {one: known[parts[depth]] for one, parts in zip(pictures, folders, strict=True) if len(parts) > depth}


class SplitRule:
    """Decides the split of each image; ``unknown`` counts the records of undecided splits.

    ``gallery`` names splits of the file that are searched; then all other unknown ones are for training. ``existing``
    are the splits that the collection has.
    """

    def __init__(self, gallery: Collection[str] = (), existing: Collection[str] = ()) -> None:
        self._decided = bool(gallery)
        self._known = {"", *NAMES, *existing}
        self._splits = {folded_split(name): folded_split(name) for name in gallery}
        self._splits |= {name: GALLERY for name in self._splits if name in Image.TRAINING_SPLITS}
        self._written: dict[str, str] = {}
        self.seen = set[str]()
        self.unknown = Counter[str]()

    def __call__(self, written: str) -> str:
        """Return the split to store."""
        if written not in self._written:
            self._written[written] = self._decide(folded_split(written))
        split = self._written[written]
        if split not in self._known:
            self.unknown[split] += 1
        return split

    def _decide(self, split: str) -> str:
        self.seen.add(split)
        if split in self._splits:
            self._known.add(self._splits[split])
            return self._splits[split]
        return "train" if self._decided and split not in self._known else split

    def troubles(self) -> list[str]:
        """Return what has to be decided first, one sentence each."""
        absent = sorted(self._splits.keys() - self.seen)
        found = some_of(sorted(filter(None, self.seen)) or ["none"])
        troubles = [f"Unknown split {some_of(absent)} in --gallery: the file has {found}."] if absent else []
        if self.unknown:
            names = [f"{name} ({counted(n, 'record')})" for name, n in self.unknown.most_common()]
            are = counted(len(names), "split is", "splits are")
            troubles.append(
                f"{are} unknown: {some_of(names)}. Name those to search with --gallery, such as --gallery "
                f"{quote(next(iter(self.unknown)))}; the others are for training."
            )
        return troubles
