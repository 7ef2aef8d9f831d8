"""From the files that people have to a priced draft: python -m benchmarks.intake DATA [--before CHECKOUT] [--write]

DATA has coco_test_captions.jsonl.gz and flickr8k/Flickr8k.token.txt.gz. COCO, Karpathy and Flickr are whole, without
pictures; other layouts have 300 images with theirs. A newcomer types three commands at a terminal and answers y; an
earlier program needs the format too. The database says what came in: images, captions, images of the gallery.
"""

import argparse
import io
import json
import os
import pty
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from PIL import Image

from benchmarks.doc_tables import write_tables
from benchmarks.papers.public_files import coco_captions

SHOWN = 300  # images of the layouts with pictures
REPEATS = 3
ASKS = "[y/N]"
GALLERY = "split NOT IN ('train', 'restval', 'val')"
COMMANDS = (
    ("add_annotator", "words", "--kind", "overlap"),
    ("plan_round", "first", "--collection", "own", "--annotators", "words", "--images", "20", "--captions", "20"),
)
HEADER = ["layout|program|commands|questions|processor s|images, captions, gallery|outcome", "|".join(["---"] * 7)]


class Data(NamedTuple):
    """COCO's rows, Flickr8k's file, and the captions of 300 pictures by file name."""

    rows: list[dict[str, Any]]
    flickr: Path
    shown: dict[str, list[str]]

    @classmethod
    def read(cls, folder: Path) -> "Data":
        rows = coco_captions(folder)
        shown: dict[str, list[str]] = {}
        for row in rows[: 5 * SHOWN]:
            shown.setdefault(row["file_name"], []).append(row["text"].strip().replace('"', "'"))
        return cls(rows, folder / "flickr8k/Flickr8k.token.txt.gz", shown)

    def pairs(self, form: str, names: Iterable[str] = ()) -> list[str]:
        """Return a line for each caption of the pictures, or of those named."""
        return [form.format(name, text) for name in names or self.shown for text in self.shown[name]]


def coco(folder: Path, data: Data) -> list[str]:
    images = [{"id": row["image_id"], "file_name": row["file_name"]} for row in data.rows[::5]]
    captions = [{"id": row["caption_id"], "image_id": row["image_id"], "caption": row["text"]} for row in data.rows]
    return [_written(folder / "captions_val2014.json", [json.dumps({"images": images, "annotations": captions})])]


def karpathy(folder: Path, data: Data) -> list[str]:
    images: dict[int, dict[str, Any]] = {}
    for row in data.rows:
        known = {"filepath": "val2014", "filename": row["file_name"], "cocoid": row["image_id"], "split": "test"}
        image = images.setdefault(row["image_id"], known | {"sentences": []})
        image["sentences"].append({"sentid": row["caption_id"], "raw": row["text"]})
    return [_written(folder / "dataset_coco.json", [json.dumps({"images": list(images.values())})])]


def kaggle(folder: Path, data: Data) -> list[str]:
    _pictures(folder / "Images", data.shown)
    _written(folder / "captions.txt", ["image,caption", *data.pairs('{},"{}"')])
    return [str(folder)]


def lavis(folder: Path, data: Data) -> list[str]:
    _pictures(folder / "flickr30k-images", data.shown)
    rows = [{"image": f"flickr30k-images/{name}", "caption": texts} for name, texts in data.shown.items()]
    return [_written(folder / "flickr30k_test.json", [json.dumps(rows), "--images", str(folder)])]


def image_folder(folder: Path, data: Data) -> list[str]:
    for split, names in (("train", list(data.shown)[:100]), ("test", list(data.shown)[100:])):
        _pictures(folder / split, names)
        _written(folder / split / "metadata.csv", ["file_name,text", *data.pairs('{},"{}"', names)])
    return [str(folder)]


def open_clip(folder: Path, data: Data) -> list[str]:
    _pictures(folder / "images", data.shown)
    lines = ["filepath\ttitle", *data.pairs("images/{}\t{}")]
    return [_written(folder / "pairs.tsv", lines), "--images", str(folder)]


def web_dataset(folder: Path, data: Data) -> list[str]:
    with tarfile.open(folder / "00000.tar", "w") as shard:
        for place, (name, texts) in enumerate(data.shown.items()):
            for suffix, content in ((".jpg", _picture(name)), (".txt", texts[0].encode())):
                member = tarfile.TarInfo(f"{place:09d}{suffix}")
                member.size = len(content)
                shard.addfile(member, io.BytesIO(content))
    return [str(folder / "00000.tar")]


class Layout(NamedTuple):
    """``before``: the format to choose in the earlier program; ``right``: images, captions, images of the gallery."""

    write: Callable[[Path, Data], list[str]]
    before: str
    right: tuple[int, int, int]


LAYOUTS = {
    "COCO": Layout(coco, "coco", (5_000, 25_000, 5_000)),
    "Karpathy": Layout(karpathy, "karpathy", (5_000, 25_000, 5_000)),
    "Flickr8k": Layout(lambda _folder, data: [str(data.flickr)], "flickr", (8_092, 40_460, 8_092)),
    "Kaggle's Flickr": Layout(kaggle, "folder", (SHOWN, 5 * SHOWN, SHOWN)),
    "BLIP and LAVIS": Layout(lavis, "karpathy", (SHOWN, 5 * SHOWN, SHOWN)),
    "ImageFolder": Layout(image_folder, "folder", (SHOWN, 5 * SHOWN, SHOWN - 100)),
    "OpenCLIP's TSV": Layout(open_clip, "folder", (SHOWN, 5 * SHOWN, SHOWN)),
    "WebDataset": Layout(web_dataset, "folder", (SHOWN, SHOWN, SHOWN)),
}


def _written(path: Path, lines: Iterable[str]) -> str:
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def _pictures(folder: Path, names: Iterable[str]) -> None:
    folder.mkdir()
    for name in names:
        (folder / name).write_bytes(_picture(name))


def _picture(name: str) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (64, 48), f"#{int(name[-10:-4]):06d}").save(content, "JPEG")
    return content.getvalue()


class Draft(NamedTuple):
    """The commands typed, the questions they asked, processor seconds, the rows of the database, the first error."""

    commands: int
    questions: int
    seconds: float
    counts: tuple[int, int, int]
    error: str


def draft(checkout: Path, given: list[str]) -> Draft:
    """Type the commands on an empty site until one fails."""
    with tempfile.TemporaryDirectory() as var:
        site = {**os.environ, "VAR_DIR": var, "DATABASE_URL": "", "REDIS_URL": ""}
        site["PYTHONPATH"] = ":".join(map(str, sorted((checkout / "packages").iterdir())))
        typed(checkout, site, ["migrate"])
        begun = os.times()
        printed = []
        for command in (["import_collection", "own", *given], *COMMANDS):
            text, failed = typed(checkout, site, command)
            printed.append(text)
            if failed:
                break
        ended = os.times()
        seconds = sum(ended[2:4]) - sum(begun[2:4])  # of children
        with sqlite3.connect(next(Path(var).glob("*.sqlite3"))) as rows:
            counts = [
                rows.execute(f"SELECT COUNT(*) FROM corpus_{table}").fetchone()[0]
                for table in ("image", "caption", f"image WHERE {GALLERY}")
            ]
    error = printed[-1].strip().splitlines()[-1] if failed else ""
    return Draft(len(printed), "".join(printed).count(ASKS), seconds, tuple(counts), error)


def typed(checkout: Path, site: dict[str, str], command: Iterable[str]) -> tuple[str, bool]:
    """Run a command at a terminal on which y was typed. Return what it printed, and whether it failed."""
    keys, terminal = pty.openpty()
    os.write(keys, b"y\n")
    words = [sys.executable, "manage.py", *command]
    running = subprocess.Popen(words, cwd=checkout, env=site, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    printed = bytearray()
    try:
        while part := os.read(keys, 65_536):
            printed += part
    except OSError:  # Linux says so at the end of a terminal
        pass
    os.close(keys)
    return printed.decode(errors="replace"), running.wait() != 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--before", type=Path, help="a checkout of an earlier program")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    data = Data.read(options.data)
    programs = {"now": Path.cwd()} | ({"before": options.before} if options.before else {})
    lines = list(HEADER)
    for name, layout in LAYOUTS.items():
        with tempfile.TemporaryDirectory() as folder:
            given = layout.write(Path(folder), data)
            runs = [
                (program, draft(checkout, given + (["--format", layout.before] if program == "before" else [])))
                for _ in range(REPEATS)
                for program, checkout in programs.items()
            ]
        for program in programs:
            mine = [one for which, one in runs if which == program]
            last = mine[-1]
            outcome = "right" if last.counts == layout.right else "wrong" if any(last.counts) else "refused"
            seconds = median(one.seconds for one in mine)
            counts = ", ".join(f"{count:,}" for count in last.counts)
            cells = (name, program, last.commands, last.questions, f"{seconds:.1f}", counts, outcome)
            lines.append("|".join(map(str, cells)))
            print(lines[-1], last.error[:200], flush=True)
    if options.write:
        write_tables("intake", "\n".join(f"|{line}|" for line in lines))


if __name__ == "__main__":
    main()
