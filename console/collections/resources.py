"""Files that programs send, and what is imported from them into collections; collections with their images, captions
and matches."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Field, Query, Schema

from console.api.idempotency import key_of
from console.api.operations import Resources
from console.api.problems import Problem
from console.api.sent_files import announced_digest, signed_put, store_body
from console.uploads import LARGEST_UPLOAD, upload_id
from core.upload_files import FOLDER

resources = Resources("Collections")


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
def upload(request: HttpRequest, sent: Query[Sent]) -> dict[str, object]:
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
        raise Problem(409, "This site has no S3. Send the file as the body, without size.")
    return {**answer, "size": sent.size, "put": put}
