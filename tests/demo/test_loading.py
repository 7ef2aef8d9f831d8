"""The button that loads the demo into an empty site."""

from contextlib import suppress
from errno import ENOSPC

from django.contrib.auth.models import Group

from core.models import Job
from demo.walkthrough import COLLECTION, Figures
from tests.conftest import client_of
from tests.factories import make_collection
from tests.transactions import locked_by


def test_an_empty_site_offers_the_demo_and_loads_it_once(researcher, settings):
    settings.CELERY_TASK_ALWAYS_EAGER = False
    assert 'action="/demo/load/"' in researcher.get("/").text
    answers = [researcher.post("/demo/load/").url for _ in range(2)]
    assert answers == [f"/jobs/{Job.objects.get().pk}/?follow=yes"] * 2


def test_a_loaded_demo_leads_home(researcher, monkeypatch, django_capture_on_commit_callbacks):
    monkeypatch.setattr(
        "demo.walkthrough.demonstrate", lambda progress: make_collection(COLLECTION) and Figures(3, 2, {}, {})
    )
    with django_capture_on_commit_callbacks(execute=True):
        answer = researcher.post("/demo/load/")
    assert researcher.get(answer.url).url == "/"
    assert "3 judged pairs, 2 matches" in researcher.get("/").text


def test_a_site_with_a_collection_of_its_own_and_a_member_without_a_role_load_nothing(researcher):
    make_collection("mine")
    assert "/demo/load/" not in researcher.get("/").text
    assert researcher.post("/demo/load/").url == "/"
    assert "1 collections of its own" in researcher.get("/").text
    assert (client_of(None).post("/demo/load/").status_code, Job.objects.count()) == (403, 0)
    assert not Job.objects.exists()


def test_a_second_press_waits_for_a_row_that_every_site_has(researcher, settings):
    settings.CELERY_TASK_ALWAYS_EAGER = False
    assert Group in locked_by(lambda: researcher.post("/demo/load/"))


def test_a_disk_that_fills_up_is_named_and_the_demo_can_be_loaded_again(
    researcher, monkeypatch, django_capture_on_commit_callbacks, caplog
):
    def fill(progress: object) -> None:
        make_collection(COLLECTION)
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr("demo.walkthrough.demonstrate", fill)
    with suppress(OSError), django_capture_on_commit_callbacks(execute=True):
        researcher.post("/demo/load/")
    job = Job.objects.get()
    shown = researcher.get(f"/jobs/{job.pk}/").text
    assert "disk of the site is full" in shown
    assert 'action="/demo/load/"' in shown
    monkeypatch.setattr("demo.walkthrough.demonstrate", lambda progress: Figures(3, 2, {}, {}))
    with django_capture_on_commit_callbacks(execute=True):
        researcher.post("/demo/load/")
    assert 'action="/demo/load/"' not in researcher.get(f"/jobs/{Job.objects.exclude(pk=job.pk).get().pk}/").text
