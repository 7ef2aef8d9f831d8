"""How much a visitor may send, and where."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from core.web.middleware import LARGEST_BODY

TOO_MUCH = {"note": "x" * LARGEST_BODY}


@pytest.fixture
def unread(monkeypatch):
    """Fails the test if a body is read."""

    def fail(self, *args):
        raise AssertionError("the body was read")

    monkeypatch.setattr("django.test.client.FakePayload.read", fail)


@pytest.mark.parametrize("address", ["/login/", "/judge/me/x/take/", "/release/"])
def test_a_stranger_who_sends_too_much_is_refused_before_anything_is_read(stranger, unread, address):
    answer = stranger.post(address, TOO_MUCH)
    assert (answer.status_code, "Too much was sent" in answer.text) == (413, True)


def test_an_upload_of_a_stranger_is_refused_before_it_is_read(stranger, site, unread):
    address = reverse("run_register", args=[site.collection.name])
    assert stranger.post(address, {"file": SimpleUploadedFile("a.json", b"x" * LARGEST_BODY)}).status_code == 413


def test_pages_that_take_uploads_take_larger_ones_from_people_who_are_logged_in(researcher, releaser, site):
    rankings = reverse("run_register", args=[site.collection.name])
    upload = {"file": SimpleUploadedFile("a.json", b"x" * LARGEST_BODY)}
    assert researcher.post(rankings, upload).status_code == 302
    payments = reverse("payments", args=["open"])
    assert releaser.post(payments, {"list": SimpleUploadedFile("a.csv", b"x" * 5_000_000)}).status_code == 422
    assert releaser.post(payments, {"list": SimpleUploadedFile("a.csv", b"x" * 5_100_000)}).status_code == 413


def test_a_body_of_unknown_length_is_refused(stranger):
    assert stranger.post("/login/", {}, headers={"transfer-encoding": "chunked"}).status_code == 411
