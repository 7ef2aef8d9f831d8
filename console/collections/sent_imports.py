"""Imports of uploaded files: the parameters of a call, and what was found in the files before a person confirms."""

from collections.abc import Container, Mapping
from contextlib import AbstractContextManager
from pathlib import PurePath
from typing import Annotated, Any
from uuid import UUID

from django import forms
from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404

from console.uploads import Files
from core.errors import CounterpartError
from core.files.stored_files import read_json, write_json
from core.files.upload_files import FOLDER
from core.models import Job
from core.parameters import Parameters
from core.progress import Progress
from corpus.collection_parameters import ImportParameters, MatchesParameters
from corpus.import_look import look_at
from corpus.imports import PreparedImport, prepared_import
from corpus.matches import SUFFIXES
from corpus.models import Collection
from corpus.readers.layouts import ARCHIVES, CAPTIONS

LOOKING = "console.tasks.look_at_import"
PICTURE_UPLOADS = ARCHIVES
CAPTION_UPLOADS = (*CAPTIONS, *ARCHIVES)
MATCH_UPLOADS = (*SUFFIXES, *ARCHIVES)
IMPORT = ImportParameters.fields()
MATCHES = MatchesParameters.fields()
NO_FILE = "Choose a file of captions, or an archive of pictures, or both."


class SentImport(Parameters):
    """Uploaded captions, pictures or both to import into a collection, by their ids."""

    collection: Annotated[str, IMPORT["collection"]]
    captions: Annotated[
        str, "id of the upload with the captions, plain, gzipped or packed, or of a folder packed with its pictures"
    ] = ""
    images: Annotated[str, "id of the upload with the pictures, a zip or tar file; they can also be added later"] = ""
    format: Annotated[str, IMPORT["format"]] = ""
    language: Annotated[str, IMPORT["language"]] = ""
    append: Annotated[bool, IMPORT["append"]] = False
    gallery: Annotated[tuple[str, ...], IMPORT["gallery"]] = ()
    skip_missing: Annotated[bool, IMPORT["skip_missing"]] = False
    skip_broken: Annotated[bool, IMPORT["skip_broken"]] = False


class SentMatches(Parameters):
    """Uploaded matches known from elsewhere to import into a collection, by the id of their file."""

    collection: Annotated[str, MATCHES["collection"]]
    file: Annotated[
        str, forms.CharField(help_text="id of the upload with the matches: a table, qrels, JSON or an export")
    ]
    source: Annotated[str, MATCHES["source"]]
    direction: Annotated[str, MATCHES["direction"]] = ""
    skip_unknown: Annotated[bool, MATCHES["skip_unknown"]] = False


def adds_pictures(params: Mapping[str, Any], files: Container[str]) -> bool:
    """Whether the files are pictures alone for an existing collection, which need no look."""
    alone = "captions" not in files and not params.get("append")
    return alone and Collection.objects.filter(name=params["collection"]).exists()


def prepared_upload(
    params: Mapping[str, Any], files: Files, progress: Progress
) -> AbstractContextManager[PreparedImport]:
    """Read the files of a job, as ``prepared_import`` does; the pictures alone may be the collection."""
    wanted = {name: params[name] for name in IMPORT.keys() & params.keys() if name not in ("collection", "path")}
    wanted["path"] = files["captions"] if "captions" in files else files["images"]
    wanted["images"] = files.get("images") if "captions" in files else None
    return prepared_import(params["collection"], **wanted, progress=progress)


def keep_look(job: Job, files: Files, progress: Progress) -> str:
    """Look at the files of a job, and keep what was found, or why they cannot be read, as long as the files."""
    try:
        with prepared_upload(job.params, files, progress) as prepared:
            look = look_at(prepared, progress=progress)
            kept: dict[str, Any] = {"look": look.as_json(), "trouble": " ".join(look.troubles)}
            said = str(look).partition("\nsplit")[0].replace("\n", ": ")
    except CounterpartError as error:
        said = str(error)
        for path in files.values():
            said = said.replace(f"{path.parent}/", "")
        kept = {"look": None, "trouble": said}
    write_json(_place_of(job), kept)
    return said


def look_of(job_id: UUID, user: User) -> tuple[Job, dict[str, Any] | None]:
    """Return a person's job that looked at files, and the ``look`` and the ``trouble`` that it kept; None if they are
    not kept any more. Raises Http404 for a job of another person or kind."""
    looks = Job.objects.filter(task=LOOKING, created_by=user, state=Job.State.DONE)
    job = get_object_or_404(looks, pk=job_id)
    return job, read_json(_place_of(job))


def _place_of(job: Job) -> str:
    return f"{FOLDER}/{job.pk.hex * 2}.json"


def check_suffix(upload: str, suffixes: tuple[str, ...]) -> None:
    """Raise CounterpartError for the id of an upload whose name has another suffix; an empty id passes."""
    if upload and PurePath(upload).suffix.lower() not in suffixes:
        raise CounterpartError(f"Invalid upload {upload!r}: send a file whose name ends in {' or '.join(suffixes)}.")
