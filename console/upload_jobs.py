"""What the jobs of uploaded files do: collections, matches and annotators, by the functions of the commands."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from console.uploaded_embeddings import check_covered
from core.errors import CounterpartError
from core.jobs import JobProgress
from core.models import Job
from core.progress import Progress
from core.zip_files import unpack
from corpus.imports import import_collection, import_pictures
from corpus.matches import import_matches
from corpus.models import Collection
from corpus.readers.folder import PICTURES
from mitl.registration import add_annotator

CAPTION_FILES = (".json", ".jsonl", ".csv", ".txt", ".token")
Files = Mapping[str, Path]


def import_from_upload(job: Job, files: Files, progress: JobProgress) -> str:
    """Import the file ``captions`` and the pictures of the zip file ``images``, or either alone."""
    params, images = job.params, files.get("images")
    if images:
        images = unpack(images, images.parent / "unpacked", suffixes=PICTURES, progress=progress)
    common: dict[str, Any] = {
        "skip_missing": params["skip_missing"],
        "actor": str(job.created_by or "command"),
        "progress": progress,
    }
    if images and "captions" not in files:
        return str(import_pictures(Collection.objects.named(params["collection"]), images, **common))
    path = _captions(files["captions"], params["format"], progress)
    wanted = {"format": params["format"], "append": params["append"]}
    return str(import_collection(params["collection"], path=path, images=images, **wanted, **common))


def matches_from_upload(job: Job, files: Files, progress: JobProgress) -> str:
    """Import the file of matches known from elsewhere."""
    params = job.params
    summary = import_matches(
        Collection.objects.named(params["collection"]),
        source=params["source"],
        path=files["file"],
        direction=params["direction"],
        skip_unknown=params["skip_unknown"],
        actor=str(job.created_by or "command"),
        progress=progress,
    )
    return str(summary)


def annotator_from_upload(job: Job, files: Files, progress: JobProgress) -> str:
    """Add an annotator of the file of embeddings or lists, which has to cover the collection's gallery."""
    name, collection = job.params["name"], Collection.objects.named(job.params["collection"])
    check_covered(collection, files["checkpoint"])
    add_annotator(name, kind="files", checkpoint=files["checkpoint"], actor=str(job.created_by or "command"))
    return f"Annotator {name} can search {collection}: plan a round, or run retrieve {collection} --annotators {name}."


def _captions(path: Path, format: str, progress: Progress) -> Path:
    """Return what the reader of the format reads: the file, what is in its zip, or the unpacked folder."""
    if path.suffix.lower() != ".zip":
        return path
    suffixes = (*PICTURES, ".csv", ".txt") if format == "folder" else CAPTION_FILES
    folder = unpack(path, path.parent / "unpacked", suffixes=suffixes, progress=progress)
    if format == "folder":
        return folder
    found = [file for file in folder.rglob("*") if file.is_file()]
    if len(found) != 1:
        raise CounterpartError(
            f"{path.name} contains {len(found)} caption files. Upload one, and the pictures as a zip file of their own."
        )
    return found[0]
