"""Files that programs send: streamed into the storage while their checksum is computed, or sent directly to S3."""

import base64
import binascii
import hashlib
import re
from typing import Any

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.http import HttpRequest
from django.http.request import UnreadablePostError

from console.api.problems import Problem

DIGEST = re.compile(r"(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]{44}):")
SIGNED_SECONDS = 3600


def announced_digest(request: HttpRequest) -> str:
    """Return the SHA-256 (hex) in the header Content-Digest. Raises Problem without one."""
    try:
        (found,) = DIGEST.findall(request.headers.get("Content-Digest", ""))
        return base64.b64decode(found, validate=True).hex()
    except (ValueError, binascii.Error) as error:
        raise Problem(400, "Send the header Content-Digest, as sha-256=:<the base64 of the SHA-256>:.") from error


def store_body(request: HttpRequest, path: str, sha256: str) -> int:
    """Store the body of a call at ``path`` in place of any file there; return its size in bytes.

    Raises Problem, and stores nothing, if the checksum differs or the body was cut off.
    """
    body = _Body(request, sha256)
    default_storage.save(path, File(body))  # type: ignore[arg-type]  # which only reads it
    return body.size


class _Body:
    """The body of a call as a file that is read once. Its end raises Problem if the checksum differs."""

    closed = False

    def __init__(self, request: HttpRequest, sha256: str) -> None:
        self._request = request
        self._sha256 = sha256
        self._digest = hashlib.sha256()
        self.size = 0

    def read(self, size: int | None = None) -> bytes:
        try:
            block: bytes = self._request.read() if size is None else self._request.read(size)
        except UnreadablePostError as error:
            is_slow = isinstance(error.__cause__, TimeoutError)
            reason = "came slower than 64 kB a second" if is_slow else "was cut off"
            sentence = f"The body {reason} after {self.size:,} bytes. Send it again."
            raise Problem(408 if is_slow else 400, sentence) from error
        self._digest.update(block)
        self.size += len(block)
        if not block and (found := self._digest.hexdigest()) != self._sha256:
            sentence = (
                f"The {self.size:,} bytes that arrived have SHA-256 {found}, not {self._sha256}. Send them again."
            )
            raise Problem(400, sentence)
        return block

    def seekable(self) -> bool:
        return False


def signed_put(path: str, sha256: str, size: int) -> dict[str, Any] | None:
    """Return the address and the headers with which a program sends a file of this SHA-256 and size (bytes) to S3,
    which refuses any other; None where the files of the site are not on S3."""
    storage: Any = default_storage
    if not hasattr(storage, "bucket_name"):
        return None
    checksum = base64.b64encode(bytes.fromhex(sha256)).decode()
    put = {"Bucket": storage.bucket_name, "Key": path, "ChecksumSHA256": checksum, "ContentLength": size}
    client = storage.connection.meta.client
    url = client.generate_presigned_url("put_object", Params=put, ExpiresIn=SIGNED_SECONDS)
    return {"url": url, "headers": {"x-amz-checksum-sha256": checksum, "Content-Length": str(size)}}
