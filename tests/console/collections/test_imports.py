"""Collections, matches and samples from pages: a job imports all of an upload, or nothing and says why."""

import json

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from console.upload_jobs import import_collection
from core.models import Event, Job
from corpus.models import Caption, Collection, Image, Match, Sample
from tests.console.collections.zip_files import zipped, zipped_as
from tests.factories import make_collection, picture

pytestmark = pytest.mark.django_db
PAGE = "/import/"


def captions(**texts: str) -> bytes:
    """JSON lines with one caption for each image."""
    rows = [
        {"caption_id": f"c-{image}", "image_id": image, "file_name": f"{image}.jpg", "text": text}
        for image, text in texts.items()
    ]
    return "\n".join(map(json.dumps, rows)).encode()


def upload(client, *, format="jsonl", name="birds", **fields):
    files = {field: SimpleUploadedFile(*fields.pop(field)) for field in ("captions", "images") if field in fields}
    return client.post(PAGE, {"collection": name, "format": format, **files, **fields})


def test_captions_and_pictures_are_imported_by_a_job(researcher, jobs_run):
    pictures = zipped_as({"val/owl.jpg": picture(), "val/jay.jpg": picture("navy")})
    with jobs_run():
        answer = upload(
            researcher, captions=("birds.jsonl", captions(owl="an owl", jay="a jay")), images=("p.zip", pictures)
        )
    job = Job.objects.get()
    assert answer.url == f"/jobs/{job.pk}/?follow=yes"
    assert (job.state, job.message) == (
        "done",
        "birds: 2 captions and 2 images added; 2 pictures stored; undo birds-1 takes it back.",
    )
    assert Image.objects.exclude(file="").count() == Match.objects.count() == 2
    assert Event.objects.get(verb="imported").actor == "researcher"
    assert researcher.get(answer.url).url == "/collections/birds/"
    assert not default_storage.exists(job.params["files"]["images"]["path"])
    import_collection(str(job.pk))  # delivered twice
    assert Collection.objects.get().captions.count() == 2


def test_the_page_of_the_job_names_the_files_as_they_were_uploaded(researcher):
    answer = upload(researcher, captions=("birds.jsonl", captions(owl="an owl")))
    page = researcher.get(answer.url).content.decode()
    assert "<dd>birds.jsonl</dd>" in page
    assert "uploads/" not in page


def test_pictures_can_come_later_without_the_captions(researcher, jobs_run):
    for files in ({"captions": ("birds.jsonl", captions(owl="an owl"))}, {"images": ("p.zip", zipped(owl=picture()))}):
        with jobs_run():
            upload(researcher, **files)
    assert Image.objects.get().width == 64


def test_new_captions_need_append(researcher, jobs_run):
    for more, states in (({}, ["done", "failed"]), ({"append": "on"}, ["done", "done"])):
        Job.objects.all().delete()
        with jobs_run():
            upload(researcher, captions=("birds.jsonl", captions(owl="an owl")))
            upload(researcher, captions=("more.jsonl", captions(jay="a jay")), **more)
        assert list(Job.objects.order_by("created_at").values_list("state", flat=True)) == states
    assert Caption.objects.count() == 2


def test_folders_and_captions_come_as_zip_files(researcher, jobs_run):
    files = {"birds/owl.jpg": picture(), "birds/owl.txt": b"an owl\na bird", "birds/.DS_Store": b""}
    texts = zipped_as({"x/birds.jsonl": captions(owl="an owl")})
    with jobs_run():
        upload(researcher, format="folder", captions=("birds.zip", zipped_as(files)))
        upload(researcher, format="folder", name="bare", images=("p.zip", zipped(owl=picture(), jay=picture("navy"))))
        upload(researcher, name="texts", captions=("b.zip", texts), skip_missing="on")
    counts = {one.name: one.captions.count() for one in Collection.objects.all()}
    assert counts == {"birds": 2, "bare": 0, "texts": 1}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"captions": ("cut.jsonl", b'{"caption_id": 1,')}, "cut.jsonl, line 1: "),
        (
            {"captions": ("b.jsonl", captions(owl="an owl")), "images": ("p.zip", zipped_as({"run.sh": b"x"}))},
            "In p.zip, 1 file",
        ),
    ],
    ids=["cut", "other kind"],
)
def test_a_bad_file_fails_in_one_line_and_changes_nothing(researcher, jobs_run, settings, fields, message):
    with jobs_run():
        upload(researcher, **fields)
    job = Job.objects.get()
    assert (job.state, job.message[: len(message)]) == ("failed", message)
    assert ("\n" in job.message, str(settings.FILE_CACHE) in job.message) == (False, False)
    assert not Collection.objects.exists()
    assert not default_storage.exists(job.params["files"]["captions"]["path"])
    assert [path for path in settings.FILE_CACHE.rglob("*") if path.is_file()] == []


REFUSED = [
    ({}, "captions"),
    ({"images": ("p.zip", b"x")}, "captions"),
    ({"captions": ("b.jsonl", b"x"), "append": "on"}, "append"),
    ({"captions": ("b.exe", b"x")}, "captions"),
    ({"captions": ("b.json", b"x"), "images": ("p.rar", b"x")}, "images"),
    ({"captions": ("b.json", b"x"), "format": "folder"}, "captions"),
    ({"captions": ("b.json", b"x"), "format": ""}, "format"),
]


def test_an_import_that_cannot_work_is_refused_at_once_at_its_field(researcher):
    for fields, field in REFUSED:
        answer = upload(researcher, **fields)
        assert (answer.status_code, [*answer.context["form"].errors]) == (422, [field]), fields
    assert not Job.objects.exists()


def test_a_failed_import_leads_back_to_its_form(researcher, jobs_run):
    with jobs_run():
        upload(researcher, format="coco", captions=("birds.json", captions(owl="an owl")), skip_missing="on")
    page = researcher.get(f"/jobs/{Job.objects.get().pk}/")
    form = researcher.get(page.context["outcome"].url).context["form"]
    kept = [form[name].value() for name in ("collection", "format", "append", "skip_missing")]
    assert kept == ["birds", "coco", False, "True"]


def test_the_files_of_a_cancelled_job_are_removed(researcher):
    upload(researcher, captions=("birds.jsonl", captions(owl="an owl")))
    job = Job.objects.get()
    researcher.post(f"/jobs/{job.pk}/cancel/")
    import_collection(str(job.pk))
    assert not default_storage.exists(job.params["files"]["captions"]["path"])
    assert not Collection.objects.exists()


def test_matches_are_imported_by_a_job_or_change_nothing(researcher, jobs_run):
    zoo = make_collection(images=3)
    for content, state in ((b"image,caption,score\n0,3,4.5\n1,0,2\n", "done"), (b"image,caption\n99,3\n", "failed")):
        with jobs_run():
            sent = {"source": "cxc", "file": SimpleUploadedFile("m.csv", content)}
            researcher.post("/collections/zoo/matches/", sent)
        assert Job.objects.order_by("created_at").last().state == state
        assert zoo.matches.filter(source="cxc").count() == 2
    assert Event.objects.get(verb="matches imported").actor == "researcher"


def test_a_sample_is_drawn_by_number_or_made_of_lists(researcher):
    make_collection(images=5)
    page = "/collections/zoo/sample/"
    drawn = researcher.post(page, {"name": "drawn", "images": 2, "captions": "", "seed": 7})
    ids = SimpleUploadedFile("ids.txt", b"1\n4\n")
    researcher.post(page, {"name": "listed", "captions": 3, "images_list": ids, "seed": 0})
    assert drawn.url == "/collections/zoo/"
    made, listed = Sample.objects.get(name="drawn"), Sample.objects.get(name="listed")
    assert (made.images.count(), made.captions.count(), made.seed) == (2, 0, 7)
    assert sorted(listed.images.values_list("key", flat=True)) == ["1", "4"]
    assert Event.objects.filter(verb="sampled", actor="researcher").count() == 2


def test_a_sample_that_cannot_be_made_is_refused(researcher):
    make_collection(images=2)
    for fields in ({"images": 3}, {"images_list": SimpleUploadedFile("ids.txt", b"99\n")}, {"images": "-1"}):
        assert researcher.post("/collections/zoo/sample/", {"name": "s", "seed": 0, **fields}).status_code == 422
    assert not Sample.objects.exists()


def test_a_test_is_made_and_listed_or_refused(researcher):
    make_collection(images=12, pictures=True)
    page, fields = "/collections/zoo/test/", {"name": "entry", "positives": 3, "negatives": 3, "attempts": 2, "seed": 0}
    assert researcher.post(page, {**fields, "pass_mark": 3}).status_code == 422
    assert researcher.post(page, {**fields, "pass_mark": 5}).url == "/tests/entry/"
    (test,) = researcher.get("/collections/zoo/").context["tests"]
    assert (test.name, test.n_items, test.pass_mark) == ("entry", 6, 5)
    assert Event.objects.get(verb="made").actor == "researcher"
