"""Collections, matches and samples from pages: a job imports all of an upload, or nothing and says why."""

import json
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from console.upload_jobs import import_collection
from core.models import Event, Job
from corpus.models import Caption, Collection, Image, Match, Sample
from tests.factories import make_collection, picture

pytestmark = pytest.mark.django_db
PAGE = "/import/"


@pytest.fixture
def jobs_run(django_capture_on_commit_callbacks):
    return lambda: django_capture_on_commit_callbacks(execute=True)


def zipped(**files: bytes) -> bytes:
    return zipped_as({f"{name}.jpg": content for name, content in files.items()})


def zipped_as(files: dict[str, bytes]) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


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


def test_the_language_of_the_captions_is_kept(researcher, jobs_run):
    with jobs_run():
        upload(researcher, captions=("birds.jsonl", captions(owl="eine Eule")), skip_missing=True, language="de")
    assert Collection.objects.get().language == "de"


def test_captions_and_pictures_are_imported_by_a_job(researcher, jobs_run):
    pictures = zipped_as({"val/owl.jpg": picture(), "val/jay.jpg": picture("navy")})
    with jobs_run():
        answer = upload(
            researcher, captions=("birds.jsonl", captions(owl="an owl", jay="a jay")), images=("p.zip", pictures)
        )
    job = Job.objects.get()
    assert answer.url == f"/jobs/{job.pk}/?follow=yes"
    assert (job.state, job.message) == ("done", "birds: 2 captions and 2 images added; 2 pictures stored.")
    assert Image.objects.exclude(file="").count() == Match.objects.count() == 2
    assert Event.objects.get(verb="imported").actor == "researcher"
    assert researcher.get(answer.url).url == "/collections/birds/"
    assert not default_storage.exists(job.params["files"]["images"]["path"])
    import_collection(str(job.pk))  # delivered twice
    assert Collection.objects.get().captions.count() == 2


def test_the_page_of_the_job_names_the_files_as_they_were_uploaded(researcher):
    answer = upload(researcher, captions=("birds.jsonl", captions(owl="an owl")))
    page = researcher.get(answer.url).content.decode()
    assert "<dt>captions</dt><dd>birds.jsonl</dd>" in page
    assert "uploads/" not in page


def test_pictures_can_come_later_without_the_captions(researcher, jobs_run):
    with jobs_run():
        upload(researcher, captions=("birds.jsonl", captions(owl="an owl")))
    assert "1 of 1 images have no picture file" in researcher.get("/collections/birds/").content.decode()
    with jobs_run():
        upload(researcher, images=("p.zip", zipped(owl=picture())))
    assert Job.objects.first().message == "birds: 1 picture stored."
    assert Image.objects.get().width == 64


def test_new_captions_need_append(researcher, jobs_run):
    for more in ({}, {"append": "on"}):
        with jobs_run():
            upload(researcher, captions=("birds.jsonl", captions(owl="an owl")))
            upload(researcher, captions=("more.jsonl", captions(jay="a jay")), **more)
    messages = list(Job.objects.order_by("created_at").values_list("message", flat=True))
    assert "1 caption of more.jsonl is not in collection birds" in messages[1]
    assert "--append" in messages[1]
    assert messages[3] == "birds: 1 caption and 1 image added."


def test_a_folder_comes_as_one_zip_file(researcher, jobs_run):
    files = {"birds/owl.jpg": picture(), "birds/owl.txt": b"an owl\na bird", "birds/.DS_Store": b""}
    with jobs_run():
        upload(researcher, format="folder", captions=("birds.zip", zipped_as(files)))
    assert Job.objects.get().message == "birds: 2 captions and 1 image added; 1 picture stored."
    assert Image.objects.get().key == "owl.jpg"


def test_a_folder_of_pictures_needs_no_captions(researcher, jobs_run):
    with jobs_run():
        upload(researcher, format="folder", images=("p.zip", zipped(owl=picture(), jay=picture("navy"))))
    assert Job.objects.get().message == "birds: 2 images added; 2 pictures stored; 2 images have no caption."
    assert "2 of 2 images have no caption" in researcher.get("/collections/birds/").content.decode()


def test_captions_of_any_format_may_be_zipped(researcher, jobs_run):
    with jobs_run():
        upload(researcher, captions=("b.zip", zipped_as({"x/birds.jsonl": captions(owl="an owl")})))
    assert Caption.objects.get().text == "an owl"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"captions": ("cut.jsonl", b'{"caption_id": 1,')}, "cut.jsonl, line 1: "),
        ({"captions": ("b.zip", zipped_as({"a.jsonl": b"", "b.jsonl": b""}))}, "b.zip contains 2 caption files."),
        (
            {"captions": ("b.jsonl", captions(owl="an owl")), "images": ("p.zip", zipped(jay=picture()))},
            "1 picture is missing: owl.jpg (image owl).",
        ),
        (
            {"captions": ("b.jsonl", captions(owl="an owl")), "images": ("p.zip", zipped_as({"run.sh": b"x"}))},
            "In p.zip, 1 file has another kind than",
        ),
    ],
    ids=["cut", "two files", "lacking", "other kind"],
)
def test_a_bad_file_fails_in_one_line_and_changes_nothing(researcher, jobs_run, settings, fields, message):
    with jobs_run():
        upload(researcher, **fields)
    job = Job.objects.get()
    assert (job.state, job.message[: len(message)]) == ("failed", message)
    assert "\n" not in job.message
    assert str(settings.FILE_CACHE) not in job.message
    assert not Collection.objects.exists()
    assert not default_storage.exists(job.params["files"]["captions"]["path"])
    assert [path for path in settings.FILE_CACHE.rglob("*") if path.is_file()] == []


REFUSED = [
    ({}, "Choose a file of captions, or a zip file of pictures, or both."),
    (
        {"images": ("p.zip", b"x")},
        "There is no collection birds yet: add its captions, or choose the format folder",
    ),
    ({"captions": ("b.jsonl", b"x"), "append": "on"}, "There is no collection birds to append to."),
    ({"captions": ("b.exe", b"x")}, "Choose a file that ends in .json or .jsonl"),
    ({"captions": ("b.json", b"x"), "images": ("p.rar", b"x")}, "Choose a file that ends in .zip."),
    ({"captions": ("b.json", b"x"), "format": "folder"}, "Pack the folder as one zip file."),
    ({"captions": ("b.json", b"x"), "name": "a b"}, "Use only letters, digits, - and _."),
    ({"captions": ("b.json", b"x"), "format": ""}, "Choose the format of the captions"),
    ({"captions": ("b.json", b"x"), "format": "xml"}, "Select a valid choice."),
]


def test_what_cannot_work_is_refused_at_once_by_its_field(researcher):
    for fields, message in REFUSED:
        answer = upload(researcher, **fields)
        assert (answer.status_code, message in answer.text) == (422, True), message
    assert not Job.objects.exists()


def test_a_failed_import_leads_back_to_its_form(researcher, jobs_run):
    with jobs_run():
        upload(researcher, format="coco", captions=("birds.json", captions(owl="an owl")), skip_missing="on")
    page = researcher.get(f"/jobs/{Job.objects.get().pk}/")
    form = researcher.get(page.context["outcome"].url).context["form"]
    kept = [form[name].value() for name in ("collection", "format", "append", "skip_missing")]
    assert kept == ["birds", "coco", False, "True"]


def test_pressing_twice_starts_one_job(researcher):
    for _ in range(2):
        upload(researcher, captions=("birds.jsonl", captions(owl="an owl")))
    assert Job.objects.count() == 1


def test_the_files_of_a_cancelled_job_are_removed(researcher):
    upload(researcher, captions=("birds.jsonl", captions(owl="an owl")))
    job = Job.objects.get()
    researcher.post(f"/jobs/{job.pk}/cancel/")
    import_collection(str(job.pk))
    assert not default_storage.exists(job.params["files"]["captions"]["path"])
    assert not Collection.objects.exists()


def test_matches_are_imported_by_a_job(researcher, jobs_run):
    zoo = make_collection(images=3)
    content = b"image,caption,score\n0,3,4.5\n1,0,2\n"
    with jobs_run():
        researcher.post("/collections/zoo/matches/", {"source": "cxc", "file": SimpleUploadedFile("m.csv", content)})
    assert Job.objects.get().message == "cxc: 2 matches added."
    assert zoo.matches.filter(source="cxc").count() == 2
    assert Event.objects.get(verb="matches imported").actor == "researcher"


@pytest.mark.parametrize(
    ("source", "content", "message"),
    [
        ("cxc", b"image,caption\n99,3\n", "m.csv has ids that are not in collection zoo (1 images: 99)."),
        ("original", b"image,caption\n0,3\n", "The source 'original' is reserved"),
        ("cxc", b"nothing", "m.csv"),
    ],
)
def test_matches_that_do_not_fit_change_nothing(researcher, jobs_run, source, content, message):
    make_collection(images=3)
    before = Match.objects.count()
    with jobs_run():
        researcher.post("/collections/zoo/matches/", {"source": source, "file": SimpleUploadedFile("m.csv", content)})
    job = Job.objects.get()
    assert (job.state, job.message[: len(message)]) == ("failed", message)
    assert Match.objects.count() == before


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


def test_a_sample_that_cannot_be_made_is_refused_with_the_reason(researcher):
    make_collection(images=2)
    ids = SimpleUploadedFile("ids.txt", b"99\n")
    answers = [
        researcher.post("/collections/zoo/sample/", {"name": "s", "seed": 0, **fields})
        for fields in ({"images": 3}, {"images": 0, "captions": 0}, {"images_list": ids}, {"images": "-1"})
    ]
    assert [answer.status_code for answer in answers] == [422] * 4
    assert "The gallery of zoo lacks 1 image of ids.txt: 99" in answers[2].content.decode()
    assert not Sample.objects.exists()


def test_only_researchers_are_shown_the_way(researcher, reviewer):
    make_collection()
    links = ["/import/?into=zoo", "/collections/zoo/matches/", "/collections/zoo/sample/"]
    for client, shown in ((researcher, True), (reviewer, False)):
        page = client.get("/collections/zoo/").content.decode()
        assert [link in page for link in links] == [shown] * 3
    assert "import_collection NAME" in researcher.get("/import/").content.decode()


def test_a_test_is_made_and_listed_or_refused_with_the_reason(researcher):
    make_collection(images=12, pictures=True)
    page, fields = "/collections/zoo/test/", {"name": "entry", "positives": 3, "negatives": 3, "attempts": 2, "seed": 0}
    refused = researcher.post(page, {**fields, "pass_mark": 3})
    assert refused.status_code == 422
    assert "Invalid pass mark 3" in refused.content.decode()
    assert researcher.post(page, {**fields, "pass_mark": 5}).url == "/tests/entry/"
    assert "6 pairs, 5 right answers pass" in researcher.get("/collections/zoo/").content.decode()
    assert Event.objects.get(verb="made").actor == "researcher"
