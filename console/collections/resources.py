"""Files that programs send, and imports from them into collections; collections with their images, captions and
matches."""

from typing import Annotated, Any
from uuid import UUID

import pyarrow as pa
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema
from pydantic import BeforeValidator

from console import upload_jobs
from console.api.bearer import ApiRequest
from console.api.file_answers import FILES, Format, as_file
from console.api.idempotency import key_of
from console.api.keysets import Place, part_of
from console.api.operations import Resources
from console.api.problems import Problem
from console.api.row_fields import Keyed
from console.api.sent_files import announced_digest, signed_put, store_body
from console.collections.picture_links import picture_link
from console.collections.schemas import CollectionAnswer, counted_collections, with_sources
from console.collections.sent_imports import (
    CAPTION_UPLOADS,
    MATCH_UPLOADS,
    NO_FILE,
    PICTURE_UPLOADS,
    SentImport,
    SentMatches,
    check_suffix,
    look_of,
)
from console.home.resources import JobAnswer
from console.uploads import LARGEST_UPLOAD, start_with_sent, upload_id
from core.errors import CounterpartError
from core.files.upload_files import FOLDER
from core.models import Job
from corpus.id_lists import COLUMNS, id_rows
from corpus.import_look import ImportLook
from corpus.models import Collection
from dataset.secret_controls import refuse_secret_pairs

resources = Resources("Collections")
Excluded = Annotated[bool, Field(validation_alias="excluded_at"), BeforeValidator(bool)]


class ImageAnswer(Schema):
    """An image. ``picture`` is an address that shows it for an hour, without a token: null where it was not imported.
    ``excluded``: reviewers took it out of the dataset."""

    key: str
    file_name: str
    width: int | None
    height: int | None
    split: str
    excluded: Excluded
    picture: str | None

    resolve_picture = staticmethod(picture_link)


class CaptionAnswer(Schema):
    """A caption, and the key of the image it was written for. ``excluded``: reviewers took it out of the dataset."""

    key: str
    image: Keyed
    text: str
    excluded: Excluded


class MatchAnswer(Schema):
    """A pair that a source knows, with its own score, and its level from 1 (100% YES) to 4 if it has levels."""

    id: int
    source: str
    image: Keyed
    caption: Keyed
    score: float | None
    grade: int | None


class SignedPut(Schema):
    """Where the bytes go: send them there with PUT and these headers within an hour."""

    url: str
    headers: dict[str, str]


class UploadAnswer(Schema):
    """A file that can be imported under its ``id``. Where ``put`` is not null, its bytes are still to be sent there."""

    id: str
    sha256: str
    size: int
    put: SignedPut | None


class Sent(Schema):
    """A file that a program sends."""

    name: Annotated[str, Field(max_length=200, description="name of the file; readers look at it and its suffix")]
    size: Annotated[int | None, Field(ge=0, le=LARGEST_UPLOAD, description="bytes, to send it to S3 itself")] = None


@resources.receives("/uploads", "data:write", UploadAnswer, url_name="upload")
def upload(request: ApiRequest, sent: Query[Sent]) -> dict[str, object]:
    """Send a file of up to 4 GiB as the body, for another call that reads it.

    It is kept until a job has read it, or for a day. On a site with its files on S3, a call with ``size`` and without
    a body answers where to send the bytes; elsewhere it is refused.
    """
    key_of(request)
    sha256 = announced_digest(request)
    answer = {"id": upload_id(sha256, sent.name), "sha256": sha256}
    path = f"{FOLDER}/{answer['id']}"
    if sent.size is None:
        return {**answer, "size": store_body(request, path, sha256), "put": None}
    put = signed_put(path, sha256, sent.size)
    if put is None:
        raise Problem(409, "This site does not use S3. Send the file as the body, without size.")
    return {**answer, "size": sent.size, "put": put}


@resources.lists("/collections", "data:read", CollectionAnswer, "A part of the list of collections, by name.")
def collections(request: ApiRequest, place: Query[Place]) -> dict[str, Any]:
    """List the collections by name."""
    return part_of(counted_collections(), place, key="name", read=with_sources)


@resources.reads("/collections/{name}", "data:read", CollectionAnswer, url_name="collection")
def collection(request: ApiRequest, name: str) -> Collection:
    """Describe a collection, with its counts."""
    (collection,) = with_sources([get_object_or_404(counted_collections(), name=name)])
    return collection


@resources.lists(
    "/collections/{name}/images", "data:read", ImageAnswer, "A part of the images of a collection, by key.", files=FILES
)
def images(request: ApiRequest, name: str, place: Query[Place], format: Format = "json") -> Any:
    """List the images of a collection by key, with links to their pictures; with a `format`, the ids, file names and
    splits of all of them in one file."""
    collection = get_object_or_404(Collection, name=name)
    if format != "json":
        return _ids(collection, "images", format)
    return part_of(collection.images.all(), place, key="key")


def _ids(collection: Collection, what: str, format: Format) -> HttpResponseBase:
    columns = pa.schema([(name, pa.string()) for name in COLUMNS[what]])
    return as_file(id_rows(collection, what), columns, format, f"{collection}-{what}")


@resources.lists(
    "/collections/{name}/captions",
    "data:read",
    CaptionAnswer,
    "A part of the captions of a collection, by key.",
    files=FILES,
)
def captions(request: ApiRequest, name: str, place: Query[Place], format: Format = "json") -> Any:
    """List the captions of a collection by key; with a `format`, all of them in one file."""
    collection = get_object_or_404(Collection, name=name)
    refuse_secret_pairs(collection, request.user)
    if format != "json":
        return _ids(collection, "captions", format)
    return part_of(collection.captions.select_related("image"), place, key="key")


@resources.lists(
    "/collections/{collection}/matches", "data:read", MatchAnswer, "A part of the matches of a collection."
)
def matches(request: ApiRequest, collection: str, place: Query[Place], source: str = "") -> dict[str, Any]:
    """List the pairs that are known in a collection, of all sources or of one. Others are unknown, not wrong."""
    found = get_object_or_404(Collection, name=collection)
    refuse_secret_pairs(found, request.user)
    rows = found.matches.select_related("image", "caption")
    return part_of(rows.filter(source=source) if source else rows, place)


class LookAnswer(Schema):
    """What a look found in uploaded files: ``trouble`` says why an import of them is refused, if it is; without a
    ``look`` they cannot be read."""

    look: Annotated[ImportLook | None, Field(description="what an import would write and leave out")]
    trouble: str


@resources.acts("/collections/{collection}/looks", "data:write", JobAnswer)
def look_at_import(request: ApiRequest, collection: str, parameters: SentImport) -> Job:
    """Look at uploaded captions, pictures or both, with the parameters of their import. ``/looks`` shows it; the files
    are kept for a day."""
    return _start(request, f"Look at files for {collection}", upload_jobs.look_at_import.name, parameters)


@resources.reads("/looks/{uuid:id}", "data:read", LookAnswer)
def look(request: ApiRequest, id: UUID) -> dict[str, Any]:
    """Show what one of the caller's jobs found in its files."""
    _, found = look_of(id, request.user)
    if found is None:
        raise Problem(404, "The files of this look are not kept any more. Send them again.")
    return found


@resources.acts("/collections/{collection}/imports", "data:write", JobAnswer)
def import_collection(request: ApiRequest, collection: str, parameters: SentImport) -> Job:
    """Import uploaded captions, pictures or both into a new or an existing collection: all of it, or nothing."""
    return _start(request, f"Import {collection}", upload_jobs.import_collection.name, parameters)


def _start(request: ApiRequest, title: str, task: str, parameters: SentImport) -> Job:
    params = parameters.as_json()
    sent = {field: params.pop(field) for field in ("captions", "images")}
    check_suffix(sent["captions"], CAPTION_UPLOADS)
    check_suffix(sent["images"], PICTURE_UPLOADS)
    if not any(sent.values()):
        raise CounterpartError(NO_FILE)
    return start_with_sent(title, task, params, sent, by=request.user)


@resources.acts("/collections/{collection}/matches", "data:write", JobAnswer)
def import_matches(request: ApiRequest, collection: str, parameters: SentMatches) -> Job:
    """Import uploaded matches known from elsewhere; those of a source that are there already do not change."""
    get_object_or_404(Collection, name=collection)
    params = parameters.as_json()
    sent = {"file": params.pop("file")}
    check_suffix(sent["file"], MATCH_UPLOADS)
    title = f"Import {parameters.source} matches of {collection}"
    return start_with_sent(title, upload_jobs.import_matches.name, params, sent, by=request.user)
