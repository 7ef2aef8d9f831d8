"""Calls over HTTP: sent again until they arrive, and refused in the site's own sentences."""

import hashlib
import json
import random
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from time import sleep
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from pydantic import BaseModel

Answer = TypeVar("Answer", bound=BaseModel)
API = "/api/v1"
TRIES = 6
FIRST_WAIT = 0.5  # seconds
LONGEST_WAIT = 90.0  # seconds
BUSY = (429, 502, 503, 504)
A_PAGE = 200  # rows
BLOCK = 1 << 20  # bytes in memory
LARGE = 1 << 24  # bytes, from which the site is asked whether it has S3


class ClientError(Exception):
    """A call did not do what it should; the sentence says why."""


class ApiError(ClientError):
    """The site refused a call: ``status`` is that of HTTP, ``detail`` the site's sentence."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{detail} ({status})")
        self.status = status
        self.detail = detail


class HttpCalls:
    """Calls of one site with one token.

    A call that meets a broken connection or a busy site is sent again with the same Idempotency-Key, so that it
    takes effect once. ``transport`` replaces the network in tests.
    """

    def __init__(
        self, url: str, token: str, *, timeout: float = 60, transport: httpx.BaseTransport | None = None
    ) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ClientError(f"Invalid address {url!r}: write it as https://counterpart.example.org.")
        token = token.strip()
        if not (token.startswith("cp_") and token[3:].isalnum()):
            raise ClientError("Invalid token: it begins with cp_. The page API of the site makes one.")
        self._http = httpx.Client(
            base_url=url.rstrip("/") + API,
            headers={"Authorization": f"Bearer {token}", "User-Agent": "counterpart-client"},
            timeout=timeout,
            transport=transport,
        )

    def close(self) -> None:
        """Close the connections; ``with Client(…) as client`` does it at its end."""
        self._http.close()

    def get(self, path: str, kind: type[Answer], **query: Any) -> Answer:
        """Return what a call that changes nothing answers."""
        return _read(self.send("GET", path, query=query), kind)

    def post(self, path: str, kind: type[Answer], /, **body: Any) -> Answer:
        """Return what a call that changes something answers."""
        content = json.dumps(body, default=str).encode()
        return _read(self.send("POST", path, content=content, headers={"Content-Type": "application/json"}), kind)

    def pages(self, path: str, kind: type[Answer], **query: Any) -> Iterator[Answer]:
        """Yield the rows of a list, which is read in parts."""
        after: str | None = ""
        while after is not None:
            part = _json(self.send("GET", path, query={"limit": A_PAGE, "after": after, **query}))
            yield from (kind.model_validate(row) for row in part["results"])
            after = part.get("next")

    def send(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        content: bytes | Path = b"",
        headers: dict[str, str] | None = None,
        stream: bool = False,
    ) -> httpx.Response:
        """Return the answer to a call, whose body may be that of a file. Raises ApiError where it is refused, and
        ClientError where the site cannot be reached."""
        headers = {**({"Idempotency-Key": uuid4().hex} if method == "POST" else {}), **(headers or {})}
        params = {name: value for name, value in (query or {}).items() if value is not None} or None
        for attempt in range(1, TRIES + 1):
            wait = FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)
            try:
                with content.open("rb") if isinstance(content, Path) else nullcontext(content) as body:
                    request = self._http.build_request(method, path, params=params, content=body, headers=headers)
                    if request.url.netloc != self._http.base_url.netloc:
                        del request.headers["Authorization"]  # other hosts must not get the token
                    response = self._http.send(request, stream=stream)
                    if response.is_success:
                        return response
                    response.read()
            except httpx.TransportError as error:
                refusal = ClientError(f"{self._http.base_url.copy_with(path='/')} does not answer: {error}")
                refusal.__cause__ = error
            else:
                refusal = _refusal(response)
                wait = _wait(response, wait)
            if attempt == TRIES or wait > LONGEST_WAIT:
                break
            sleep(wait)
        raise refusal

    def send_file(self, file: Path, kind: type[Answer]) -> Answer:
        """Upload a file with its checksum, streamed; a large one to S3 where the site has it."""
        digest = b64encode(bytes.fromhex(_sha256(file))).decode()
        headers = {"Content-Digest": f"sha-256=:{digest}:", "Content-Type": "application/octet-stream"}
        query = {"name": file.name}
        size = file.stat().st_size
        if size >= LARGE:
            try:
                answer = self.send("POST", "/uploads", query={**query, "size": size}, headers=headers)
                put = answer.json()["put"]
                self.send("PUT", put["url"], content=file, headers=put["headers"])
                return _read(answer, kind)
            except ApiError as error:
                if error.status != 409:  # this site does not use S3
                    raise
        return _read(self.send("POST", "/uploads", query=query, content=file, headers=headers), kind)

    def fetch(self, path: str, target: Path, sha256: str) -> Path:
        """Download a file unless it is there, from where an earlier download was cut off, and compare its checksum."""
        if target.exists() and _sha256(target) == sha256:
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.part")
        for attempt in range(1, TRIES + 1):
            try:
                self._fetch_rest(path, part, sha256)
                break
            except httpx.TransportError as error:
                if attempt == TRIES:
                    raise ClientError(f"The download of {target.name} was cut off {TRIES} times: {error}") from error
        if (found := _sha256(part)) != sha256:
            part.unlink()
            raise ClientError(f"{target.name} came with SHA-256 {found}, not {sha256}. Download it again.")
        return part.replace(target)

    def _fetch_rest(self, path: str, part: Path, sha256: str) -> None:
        begun = part.stat().st_size if part.exists() else 0
        headers = {"Accept-Encoding": "identity"}
        if begun:
            headers |= {"Range": f"bytes={begun}-", "If-Range": f'"{sha256}"'}
        try:
            response = self.send("GET", path, headers=headers, stream=True)
        except ApiError as error:
            if error.status == 416:  # nothing is left
                return
            raise
        with closing(response), part.open("ab" if response.status_code == 206 else "wb") as file:
            for block in response.iter_bytes():
                file.write(block)


def _wait(response: httpx.Response, usual: float) -> float:
    """Return the seconds to wait before a refused call is sent again; infinite if a retry is of no use."""
    retry_after = response.headers.get("Retry-After", "")
    if response.status_code in BUSY or (response.status_code == 409 and retry_after):
        return float(retry_after) if retry_after.isdecimal() else usual
    return float("inf")


def _refusal(response: httpx.Response) -> ClientError:
    if response.headers.get("Content-Type") == "application/problem+json":
        return ApiError(response.status_code, response.json()["detail"])
    return ApiError(response.status_code, _stranger(response))


def _json(response: httpx.Response) -> Any:
    if not response.headers.get("Content-Type", "").startswith("application/json"):
        raise ClientError(_stranger(response))
    return response.json()


def _read(response: httpx.Response, kind: type[Answer]) -> Answer:
    return kind.model_validate(_json(response))


def _stranger(response: httpx.Response) -> str:
    moved = f", it leads to {response.headers['Location']}" if response.is_redirect else ""
    return f"{response.url.copy_with(query=None)} does not answer as a Counterpart site{moved}. Check the address."


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
