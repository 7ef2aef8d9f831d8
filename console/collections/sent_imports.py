"""Imports of uploaded files: the parameters of a call, and the checks before a job begins."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated

from django import forms

from console.upload_jobs import CAPTION_FILES
from core.errors import CounterpartError
from core.parameters import Parameters, choices
from corpus.collection_parameters import ImportParameters, MatchesParameters
from corpus.models import Collection
from corpus.readers import READERS

CAPTION_UPLOADS = (*CAPTION_FILES, ".gz", ".zip")
PICTURE_UPLOADS = (".zip",)
MATCH_UPLOADS = (".csv", ".json", ".gz")
IMPORT = ImportParameters.fields()
MATCHES = MatchesParameters.fields()


@dataclass(frozen=True, kw_only=True)
class SentImport(Parameters):
    """Uploaded captions, pictures or both to import into a collection, by their ids."""

    collection: Annotated[str, IMPORT["collection"]]
    captions: Annotated[
        str, "id of the upload with the captions; plain, gzipped or zipped; of the format folder, the folder as zip"
    ] = ""
    images: Annotated[str, "id of the upload with the pictures, a zip file; they can also be added later"] = ""
    format: Annotated[
        str,
        forms.ChoiceField(
            required=False, choices=[("", "no captions"), *choices(*READERS)], help_text="format of the captions"
        ),
    ] = ""
    language: Annotated[str, IMPORT["language"]] = ""
    append: Annotated[bool, IMPORT["append"]] = False
    skip_missing: Annotated[bool, IMPORT["skip_missing"]] = False


@dataclass(frozen=True, kw_only=True)
class SentMatches(Parameters):
    """Uploaded matches known from elsewhere to import into a collection, by the id of their file."""

    collection: Annotated[str, MATCHES["collection"]]
    file: Annotated[str, forms.CharField(help_text="id of the upload with the matches: CSV or JSON, plain or gzipped")]
    source: Annotated[str, MATCHES["source"]]
    direction: Annotated[str, MATCHES["direction"]] = ""
    skip_unknown: Annotated[bool, MATCHES["skip_unknown"]] = False


def import_trouble(
    collection: str, *, format_name: str, append: bool, captions: str, images: str
) -> tuple[str, str] | None:
    """Return the first invalid parameter of an import and the reason; None for a valid import.

    ``captions`` and ``images`` are the names of the files, or empty.
    """
    exists = Collection.objects.filter(name=collection).exists()
    if not captions and not images:
        return "captions", "Choose a file of captions, or a zip file of pictures, or both."
    if not captions and not exists and format_name != "folder":
        return "captions", (
            f"Collection {collection} does not exist yet: add its captions, or choose the format folder for pictures "
            "without captions."
        )
    if captions and not format_name:
        return "format", f"Choose the format of the captions: {', '.join(READERS)}."
    if captions and append and not exists:
        return "append", f"Collection {collection} does not exist: leave out append, or correct the name."
    if captions and format_name == "folder" and not captions.lower().endswith(".zip"):
        return "captions", "Pack the folder as one zip file."
    return None


def check_suffix(upload: str, suffixes: tuple[str, ...]) -> None:
    """Raise CounterpartError for the id of an upload whose name has another suffix; an empty id passes."""
    if upload and PurePath(upload).suffix.lower() not in suffixes:
        raise CounterpartError(f"Invalid upload {upload!r}: send a file whose name ends in {' or '.join(suffixes)}.")
