"""The text of a version's files. Equal contents give equal bytes."""

import csv
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from core.progress import Progress, tracked
from corpus.models import Collection
from counterpart_metrics.ids import number_or_text, sort_key
from dataset.versions.contents import Contents
from dataset.versions.file_rows import GalleryRow, ReleasedJudgment, ReleasedPair, pair_order
from dataset.versions.rejections import RejectedPair, Rejections, rejected_rows
from dataset.versions.version_files import JUDGMENTS, PAIRS, REJECTIONS, positives_file
from mitl.models import Direction


def gallery_rows(collection: Collection) -> Iterator[GalleryRow]:
    """Yield the images and then the captions that a version is about, each by id with the SHA-256 of its picture or
    text. A picture that is not imported has no digest."""
    images = collection.images.gallery().order_by().values_list("key", "sha256")
    for key, sha256 in sorted(images, key=lambda row: sort_key(row[0])):
        yield GalleryRow("image", key, "", sha256)
    captions = collection.captions.gallery().order_by().values_list("key", "image__key", "text")
    for key, image, text in sorted(captions, key=lambda row: sort_key(row[0])):
        yield GalleryRow("caption", key, image, hashlib.sha256(text.encode()).hexdigest())


def render_judgments(rows: Iterable[ReleasedJudgment], folder: Path, progress: Progress) -> Path:
    return write_rows(folder / JUDGMENTS, ReleasedJudgment._fields, tracked(rows, "judgments", progress))


def render_rejections(rejections: Iterable[Rejections], folder: Path) -> Path:
    return write_rows(folder / REJECTIONS, RejectedPair._fields, rejected_rows(rejections))


def render_contents(name: str, contents: Contents, folder: Path) -> list[Path]:
    """Write the positives of version ``name`` in both directions and its pairs with verdicts and probabilities."""
    written = []
    for direction in Direction:
        written.append(folder / positives_file(name, direction))
        written[-1].write_text(_positives_json(contents, direction))
    columns = ReleasedPair._fields if contents.certainty else ReleasedPair._fields[:-1]
    rows = (row[: len(columns)] for row in _pair_rows(contents))
    return [*written, write_rows(folder / PAIRS, columns, rows)]


def _positives_json(contents: Contents, direction: Direction) -> str:
    """{query: [items]} of the queries with positives; queries are texts, as JSON requires, items numbers."""
    found: Mapping[str, list[str]] = defaultdict(list)
    for image, caption in contents.positives:
        if direction == Direction.IMAGE_TO_CAPTION and image in contents.queries.images:
            found[image].append(caption)
        elif direction == Direction.CAPTION_TO_IMAGE and caption in contents.queries.captions:
            found[caption].append(image)
    return json.dumps(
        {
            query: [number_or_text(item) for item in sorted(found[query], key=sort_key)]
            for query in sorted(found, key=sort_key)
        }
    )


def _pair_rows(contents: Contents) -> Iterator[ReleasedPair]:
    for pair in sorted(contents.pairs | contents.automatic, key=pair_order):
        sources = ";".join(contents.sources_of(pair))
        positive = int(pair in contents.positives)
        verdict = contents.verdicts.get(pair)
        if verdict is None:
            yield ReleasedPair(*pair, positive, sources=sources)
            continue
        shares = [f"{share:.6g}" for share in verdict.shares] or [""] * 4
        judged = (str(verdict.level), str(verdict.votes), *shares, shares[verdict.level - 1], str(verdict.simulated))
        probability = "" if verdict.probability is None else f"{verdict.probability:.6g}"
        yield ReleasedPair._make((*pair, positive, *judged, str(verdict.review or ""), sources, probability))


def write_rows(path: Path, columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> Path:
    """Write rows under their columns as a CSV file of a version."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    return path
