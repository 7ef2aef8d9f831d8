"""Who may see and do what with which link, and the pictures behind it."""

import re
import sys
from datetime import timedelta
from functools import cache
from html import unescape
from io import BytesIO

import pytest
from django.conf import settings
from django.core import signing
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.utils import timezone
from PIL import Image as Pillow

from annotation.judging import links
from annotation.models import Assignment
from annotation.people.receipts import verify_code
from annotation.people.workers import renew_links
from annotation.work.answers import places_of
from corpus.models import Image
from corpus.pictures.stored_pictures import store_picture
from hits.models import Item
from tests.annotation.answering import address, home_of, leased, submit
from tests.factories import make_collection, make_round, make_worker, picture


def test_a_forged_link_opens_nothing(stranger, assignment):
    for token in ("x", "MQ:1x:forged"):
        for page in ("", "receipt/"):
            assert stranger.get(f"/judge/task/{token}/{page}").status_code == 404


def test_no_part_of_one_workers_link_opens_anothers_hit(stranger, made, assignment):
    other = leased(make_round(made.pool.collection, "other"), worker=make_worker())
    ours, theirs = (links.assignment_token(a).split(":") for a in (assignment, other))
    mixed = ":".join([theirs[0], *ours[1:]])
    assert stranger.get(f"/judge/task/{mixed}/").status_code == 404
    assert stranger.post(f"/judge/task/{mixed}/return/").status_code == 404


def test_a_link_of_one_kind_does_not_open_another(stranger, made, assignment):
    page = stranger.get(address("task", assignment)).text
    tokens = {
        "me": links.worker_token(assignment.worker, made),
        "task": links.assignment_token(assignment),
        "picture": re.search(r'src="/judge/picture/([^"/]+)/1/\?seal=[^"]+size=800"', page)[1],
    }
    for kind, rest in (("me", ""), ("task", ""), ("picture", "1/")):
        opened = {other: stranger.get(f"/judge/{kind}/{token}/{rest}").status_code for other, token in tokens.items()}
        assert opened == {other: 200 if other == kind else 404 for other in tokens}


def test_an_old_link_says_how_to_go_on(stranger, made, assignment, monkeypatch):
    links = address("task", assignment), home_of(assignment.worker, made)
    future = signing.time.time() + 400 * 86400
    monkeypatch.setattr(signing.time, "time", lambda: future)
    for link in links:
        response = stranger.get(link)
        assert (response.status_code, "This link has expired" in response.text) == (410, True)


def test_a_changed_key_closes_no_link_that_a_worker_has(stranger, made, assignment, settings):
    links = address("task", assignment), home_of(assignment.worker, made)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "the new key"
    assert [stranger.get(link).status_code for link in links] == [200, 200]


def test_links_from_before_a_new_link_open_nothing(stranger, made, assignment):
    old = [address("task", assignment), home_of(assignment.worker, made)]
    picture = address("picture", assignment, 1)
    renew_links(assignment.worker, by="robin")
    answers = [stranger.get(link) for link in old]
    assert [(one.status_code, "This link was replaced" in one.text) for one in answers] == [(410, True)] * 2
    assert stranger.get(picture).status_code == 404
    assert stranger.post(old[0] + "return/").status_code == 410
    assert Assignment.objects.get().state == "leased"


def test_a_picture_that_was_changed_in_the_storage_is_not_shown(stranger, assignment):
    shown = address("picture", assignment, 1)
    image = Item.objects.get(pk=places_of(assignment)[1]).image
    stored = store_picture("zoo", image.key, "0.jpg", picture())
    Image.objects.filter(pk=image.pk).update(file=stored.file)
    before = b"".join(stranger.get(f"{shown}?size=320").streaming_content)
    default_storage.save(stored.file, ContentFile(picture("red")))
    assert stranger.get(f"{shown}?size=800").status_code == 404
    assert b"".join(stranger.get(f"{shown}?size=320").streaming_content) == before  # made of the picture as it was


def test_a_new_link_leads_to_the_same_work_and_its_receipt_is_genuine(stranger, made, assignment):
    submit(stranger, assignment)
    assignment.refresh_from_db()
    renew_links(assignment.worker, by="robin")
    assert assignment.receipt in stranger.get(home_of(assignment.worker, made)).text
    assert verify_code(assignment.receipt).worker == assignment.worker


def test_a_browser_that_remembers_a_void_link_is_a_strangers(stranger, made):
    stranger.cookies[settings.WORKER_COOKIE_NAME] = links.worker_token(consented := make_worker(), made)
    assert "again" in stranger.get(f"/judge/join/{made.join_key}/").text
    renew_links(consented, by="robin")
    assert stranger.get(f"/judge/join/{made.join_key}/").context["known"] is None


def test_a_link_to_a_row_that_is_gone_says_so(stranger, assignment):
    link = address("task", assignment)
    assignment.delete()
    assert stranger.get(link).status_code == 404


def test_a_wrong_method_is_refused(stranger, assignment):
    for ask, name in (
        (stranger.get, "draft"),
        (stranger.get, "give_back"),
        (stranger.post, "receipt"),
        (stranger.put, "task"),
        (stranger.delete, "task"),
    ):
        assert ask(address(name, assignment)).status_code == 405


def test_worker_pages_need_no_csrf_cookie(assignment):
    assert submit(Client(enforce_csrf_checks=True), assignment).status_code == 302


def test_pages_are_private_and_give_no_other_site_their_address(stranger, assignment):
    response = stranger.get(address("task", assignment))
    assert response["Cache-Control"] == "private, no-store"
    assert response["Referrer-Policy"] == "no-referrer"
    assert response["X-Frame-Options"] == "DENY"
    assert "script-src 'self'" in response["Content-Security-Policy"]


def test_an_answer_runs_no_code_of_the_api(stranger, assignment):
    stranger.get(address("task", assignment))  # loads the addresses of the site
    run = set()
    sys.setprofile(lambda frame, *_: run.add(frame.f_globals.get("__name__", "")))
    try:
        submit(stranger, assignment)
    finally:
        sys.setprofile(None)
    assert "annotation.work.submissions" in run
    assert {name for name in run if name.startswith("console.")} == set()


def test_a_missing_picture_is_a_plain_404(stranger, db):
    bare = leased(make_round(make_collection(pictures=False)))
    assert stranger.get(address("picture", bare, 1)).status_code == 404


def test_pictures_are_those_of_the_hit_and_close_with_it(stranger, assignment):
    assert stranger.get(address("picture", assignment, 99)).status_code == 404
    submit(stranger, assignment)
    assert stranger.get(address("picture", assignment, 1)).status_code == 404


# Pictures as workers get them

GPS, CAMERA = 0x8825, 0x0110


@cache
def photograph() -> bytes:
    """A photograph of 3000 x 1500 pixels, with the camera and the place in its metadata."""
    photo, content = Pillow.new("RGB", (3000, 1500), "teal"), BytesIO()
    exif = photo.getexif()
    exif[CAMERA], exif.get_ifd(GPS)[1] = "Camera of Ann", "N"
    photo.save(content, "JPEG", exif=exif)
    return content.getvalue()


@pytest.fixture
def photographed(db) -> Assignment:
    """A HIT whose pictures are that photograph."""
    assignment = leased(make_round())
    stored = store_picture("zoo", "1", "1.jpg", photograph())
    Image.objects.update(file=stored.file, sha256=stored.sha256, width=stored.width, height=stored.height)
    return assignment


def shown(stranger, assignment: Assignment, query: str) -> Pillow.Image:
    answer = stranger.get(address("picture", assignment, 1) + query)
    return Pillow.open(BytesIO(b"".join(answer.streaming_content)))


def test_a_worker_gets_a_picture_in_its_size_without_metadata(stranger, photographed):
    for query, across in (("?size=800", 800), ("?size=1600", 1600), ("", 2400), ("?size=9", 2400)):
        picture = shown(stranger, photographed, query)
        assert picture.size == (across, across // 2)
        assert dict(picture.getexif()) == {}


def test_a_picture_is_not_compressed_again(stranger, photographed):
    answer = stranger.get(address("picture", photographed, 1), HTTP_ACCEPT_ENCODING="gzip")
    assert "Content-Encoding" not in answer


def test_a_large_picture_is_offered_in_two_sizes_and_a_small_one_in_one(stranger, photographed):
    page = address("task", photographed)
    assert stranger.get(page).text.count("1600w") == 4
    Image.objects.update(width=640, height=480)
    assert "1600w" not in stranger.get(page).text


def sealed_address(stranger, assignment: Assignment) -> str:
    """The address of the first picture in the page, in the size that every screen loads."""
    page = stranger.get(address("task", assignment)).text
    return unescape(re.search(r'src="([^"]+/1/\?seal=[^"]+size=800)"', page)[1])


def test_a_picture_that_was_sent_before_opens_without_the_database(stranger, photographed, django_assert_num_queries):
    shown_at = sealed_address(stranger, photographed)
    assert stranger.get(shown_at).status_code == 200
    with django_assert_num_queries(0):
        again = stranger.get(shown_at)
    assert Pillow.open(BytesIO(b"".join(again.streaming_content))).size == (800, 400)
    assert re.fullmatch(r"private, max-age=\d{4}, immutable", again["Cache-Control"])


def test_a_seal_reveals_neither_the_picture_nor_its_file(stranger, photographed):
    shown_at = sealed_address(stranger, photographed)
    assert not any(image.sha256[:8] in shown_at for image in Image.objects.all())


def test_a_changed_seal_or_one_of_an_unmade_size_asks_the_database(stranger, photographed):
    shown_at = sealed_address(stranger, photographed)
    stranger.get(shown_at)
    Assignment.objects.update(state="submitted")
    assert stranger.get(shown_at).status_code == 200
    for part, changed in (("seal=", "seal=0"), (r"-([0-9a-f]{8})-", r"-7\1-"), ("size=800", "size=1600")):
        assert stranger.get(re.sub(part, changed, shown_at, count=1)).status_code == 404


def test_a_seal_ends_with_the_longest_lease(stranger, photographed):
    Assignment.objects.update(leased_at=timezone.now() - timedelta(days=2), deadline=timezone.now() - timedelta(days=1))
    shown_at = sealed_address(stranger, photographed)
    assert stranger.get(shown_at).status_code == 200  # The HIT may still be answered.
    Assignment.objects.update(state="submitted")
    assert stranger.get(shown_at).status_code == 404
