"""Files that programs send: stored under their checksum, or not at all."""

from base64 import b64encode
from datetime import timedelta
from hashlib import sha256
from io import BytesIO
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from django.utils import timezone

from console.uploads import start_with_sent, stored_upload
from core.errors import CounterpartError
from core.files.stored_files import files_in, local_copy
from core.files.upload_files import remove_unused_uploads
from integrations.models import KeptAnswer
from tests.console.api.calls import API, Caller, check_refused, problem
from tests.console.api.s3 import served_objects

CONTENT = b'{"a": "caption"}'
SHA256 = sha256(CONTENT).hexdigest()


def test_a_file_is_stored_under_its_checksum_and_name(caller):
    response = caller.send(CONTENT, "captions.json")
    assert response.status_code == 201
    answer = response.json()
    assert answer == {"id": f"{SHA256}-captions.json", "sha256": SHA256, "size": 16, "put": None}
    assert local_copy(stored_upload(answer["id"])).read_bytes() == CONTENT


def test_the_same_file_again_has_the_same_answer(caller):
    assert caller.send(CONTENT, "a.json").json() == caller.send(CONTENT, "a.json").json()
    assert len(files_in("uploads")) == 1
    assert not KeptAnswer.objects.exists()


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("Vögel im Mai.json", "V_gel_im_Mai.json"),
        ("..", "file"),
        ("x" * 90 + ".jsonl", "x" * 60 + ".jsonl"),
    ],
)
def test_a_name_is_made_harmless_and_short(caller, name, kept):
    id = caller.send(CONTENT, name).json()["id"]
    assert id == f"{SHA256}-{kept}"
    assert stored_upload(id).sha256 == SHA256


def test_other_bytes_than_announced_are_not_stored(caller):
    check_refused(caller.send(CONTENT, "captions.json", digest=sha256(b"other").digest()), 400, SHA256)
    assert files_in("uploads") == []


class Broken(BytesIO):
    """A connection that breaks after the first bytes."""

    def read(self, size: int | None = -1) -> bytes:
        if block := super().read(size):
            return block
        raise ConnectionResetError


@pytest.mark.parametrize("connection", [BytesIO, Broken])
def test_a_file_that_is_cut_off_is_not_stored(caller, connection):
    arriving = {"CONTENT_LENGTH": "1000", "wsgi.input": connection(CONTENT)}
    check_refused(caller.send(CONTENT[:-1], "captions.json", **arriving), 400, "16 bytes")
    assert files_in("uploads") == []


@pytest.mark.parametrize("header", ["", "sha-512=:abc=:", f"sha-256={SHA256}", "sha-256=:YWJj:"])
def test_a_file_needs_its_digest(caller, header):
    response = caller.send(CONTENT, "captions.json", headers={"Content-Digest": header})
    assert response.status_code == 400
    assert "Content-Digest" in problem(response)


def test_a_file_needs_a_key(caller):
    response = caller.send(CONTENT, "captions.json", headers={"Idempotency-Key": ""})
    assert response.status_code == 400
    assert "Idempotency-Key" in problem(response)


def test_files_above_the_limit_are_not_read(caller):
    response = caller.send(CONTENT, "captions.json", CONTENT_LENGTH=str(5 * 1024**3))
    assert response.status_code == 413


def test_an_unknown_upload_is_refused(db):
    for id in ("abc", f"{SHA256}-a.json", "../secret"):
        with pytest.raises(CounterpartError, match="Unknown upload"):
            stored_upload(id)


def test_unused_files_go_after_a_day(caller, monkeypatch):
    used, unused = caller.send(CONTENT, "used.json").json()["id"], caller.send(CONTENT, "unused.json").json()["id"]
    start_with_sent("Import", "none", {}, {"captions": used}, by=caller.token.owner)
    assert remove_unused_uploads() == 0
    later = timezone.now() + timedelta(hours=25)
    monkeypatch.setattr("core.files.upload_files.timezone.now", lambda: later)
    assert remove_unused_uploads() == 1
    assert stored_upload(used)
    with pytest.raises(CounterpartError):
        stored_upload(unused)


def without_body(caller: Caller, size: int = len(CONTENT)):
    digest = f"sha-256=:{b64encode(sha256(CONTENT).digest()).decode()}:"
    headers = {"Authorization": f"Bearer {caller.text}", "Idempotency-Key": "1", "Content-Digest": digest}
    return caller.client.post(f"{API}/uploads?name=a.json&size={size}", headers=headers)


def test_a_site_without_s3_asks_for_the_body(caller):
    check_refused(without_body(caller), 409, "as the body")


@pytest.fixture
def objects(settings, monkeypatch):
    """The objects of the site's files, on S3."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with served_objects() as objects:
        settings.AWS_S3_ENDPOINT_URL = objects.address
        settings.AWS_STORAGE_BUCKET_NAME = "files"
        settings.STORAGES = settings.STORAGES | {"default": {"BACKEND": "storages.backends.s3.S3Storage"}}
        yield objects


def put(signed: dict, content: bytes) -> int:
    try:
        with urlopen(Request(signed["url"], content, signed["headers"], method="PUT")) as answer:
            return answer.status
    except HTTPError as error:
        return error.code


def test_a_file_goes_to_s3_without_the_site(caller, objects):
    answer = without_body(caller).json()
    with pytest.raises(CounterpartError, match="Unknown upload"):
        stored_upload(answer["id"])
    assert put(answer["put"], CONTENT) == 200
    assert objects.stored == {f"/files/uploads/{answer['id']}": CONTENT}
    assert local_copy(stored_upload(answer["id"])).read_bytes() == CONTENT


def test_what_goes_to_s3_is_signed_with_its_checksum_and_size(caller, objects):
    signed = without_body(caller).json()["put"]
    assert put(signed, b"x" * len(CONTENT)) == 400
    assert objects.stored == {}


def test_other_bytes_than_announced_are_not_stored_on_s3(caller, objects):
    assert caller.send(CONTENT, "a.json", digest=sha256(b"other").digest()).status_code == 400
    assert objects.stored == {}


def test_a_file_above_the_limit_is_not_signed(caller, objects):
    assert without_body(caller, size=5 * 1024**3).status_code == 422
