"""Collections, matches and samples from pages: a job imports all of an upload, or nothing and says why."""

import json

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from console.upload_jobs import import_collection, look_at_import
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


def upload(client, *, name="birds", **fields):
    files = {field: SimpleUploadedFile(*fields.pop(field)) for field in ("captions", "images") if field in fields}
    return client.post(PAGE, {"collection": name, **files, **fields})


@pytest.fixture
def looked_at(researcher, jobs_run):
    """Upload files and have the job run that looks at them; the address of what it found."""

    def look(**fields) -> str:
        with jobs_run():
            answer = upload(researcher, **fields)
        return researcher.get(answer.url).url

    return look


@pytest.fixture
def imported(researcher, jobs_run, looked_at):
    """Upload files, press *Import* after the look, and have both jobs run; the job of the import."""

    def act(append="", skip_missing="", **fields) -> Job:
        place = looked_at(append=append, skip_missing=skip_missing, **fields)
        with jobs_run():
            researcher.post(place, {"append": append, "skip_missing": skip_missing})
        return Job.objects.order_by("created_at").last()

    return act


PICTURES = ("p.zip", zipped_as({"val/owl.jpg": picture(), "val/jay.jpg": picture("navy")}))
BIRDS = ("birds.jsonl", captions(owl="an owl", jay="a jay"))


def test_captions_and_pictures_are_looked_at_and_then_imported_by_a_job(researcher, imported):
    job = imported(captions=BIRDS, images=PICTURES)
    assert (job.title, job.state) == ("Import birds", "done")
    assert job.message == "birds: 2 captions and 2 images added; 2 pictures stored; undo birds-1 takes it back."
    assert Image.objects.exclude(file="").count() == Match.objects.count() == 2
    assert Event.objects.get(verb="imported").actor == "researcher"
    assert researcher.get(f"/jobs/{job.pk}/?follow=yes").url == "/collections/birds/"
    assert not default_storage.exists(job.params["files"]["images"]["path"])
    import_collection(str(job.pk))  # delivered twice
    assert Collection.objects.get().captions.count() == 2


def test_a_look_shows_pictures_with_their_sentences_and_writes_nothing(researcher, looked_at):
    place = looked_at(captions=BIRDS, images=PICTURES)
    page = researcher.get(place)
    assert [(one["text"], one["width"]) for one in page.context["look"]["examples"]] == [("an owl", 64), ("a jay", 64)]
    assert page.content.decode().count('src="data:image/jpeg;base64,') == 2
    assert b"<button>Import</button>" in page.content
    assert not Collection.objects.exists()


def test_a_look_that_finds_trouble_offers_no_import_but_another_look(researcher, looked_at, jobs_run):
    lines = captions(owl="an owl").replace(b"}", b', "split": "fold 1"}')
    place = looked_at(captions=("b.jsonl", lines))
    page = researcher.get(place)
    assert "1 split is unknown: fold 1" in page.context["trouble"]
    assert b"<button>Import</button>" not in page.content
    with jobs_run():
        answer = researcher.post(place, {"look": "again", "gallery": "fold 1"})
    again = researcher.get(answer.url).url
    assert (researcher.get(again).context["trouble"], again == place) == ("", False)
    with jobs_run():
        researcher.post(again, {"gallery": "fold 1"})
    assert Image.objects.get().split == "fold 1"


def test_a_look_is_of_the_person_who_uploaded_the_files(researcher, looked_at, releaser):
    place = looked_at(captions=BIRDS)
    assert (releaser.get(place).status_code, releaser.post(place).status_code) == (404, 404)
    assert Job.objects.count() == 1


def test_an_upload_sent_twice_and_confirmed_twice_is_one_look_and_one_import(researcher, jobs_run):
    with jobs_run():
        first, second = upload(researcher, captions=BIRDS), upload(researcher, captions=BIRDS)
    assert first.url == second.url
    place = researcher.get(first.url).url
    with jobs_run():
        assert researcher.post(place).url == researcher.post(place).url
    assert (Job.objects.count(), Caption.objects.count()) == (2, 2)
    assert researcher.post(place).context["form"].errors["__all__"] == [
        "birds.jsonl is not kept any more. Upload it again."
    ]


def test_the_page_of_the_job_names_the_files_as_they_were_uploaded(researcher):
    answer = upload(researcher, captions=BIRDS)
    page = researcher.get(answer.url).content.decode()
    assert "<dd>birds.jsonl</dd>" in page
    assert "uploads/" not in page


def test_pictures_can_come_later_without_the_captions_and_without_a_look(researcher, imported, jobs_run):
    imported(captions=("birds.jsonl", captions(owl="an owl")))
    with jobs_run():
        upload(researcher, images=("p.zip", zipped(owl=picture())))
    assert Image.objects.get().width == 64


def test_new_captions_need_append(researcher, imported, looked_at):
    imported(captions=("birds.jsonl", captions(owl="an owl")))
    more = ("more.jsonl", captions(jay="a jay"))
    assert "--append" in researcher.get(looked_at(captions=more)).context["trouble"]
    assert imported(captions=more).state == "failed"
    assert imported(captions=more, append="on").state == "done"
    assert Caption.objects.count() == 2


def test_folders_and_captions_come_packed(imported):
    files = {"birds/owl.jpg": picture(), "birds/owl.txt": b"an owl\na bird", "birds/.DS_Store": b"", "birds/a.sh": b""}
    imported(captions=("birds.zip", zipped_as(files)))
    imported(name="bare", images=("p.zip", zipped(owl=picture(), jay=picture("navy"))))
    imported(name="texts", captions=("b.zip", zipped_as({"x/birds.jsonl": captions(owl="an owl")})))
    counts = {one.name: (one.images.count(), one.captions.count()) for one in Collection.objects.all()}
    assert counts == {"birds": (1, 2), "bare": (2, 0), "texts": (1, 1)}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"captions": ("cut.jsonl", b'{"caption_id": 1,')}, "cut.jsonl has no captions"),
        ({"captions": BIRDS, "images": ("p.zip", zipped_as({"run.sh": b"x"}))}, "p.zip contains no files"),
    ],
    ids=["cut", "other kind"],
)
def test_a_bad_file_is_described_in_one_line_and_changes_nothing(researcher, imported, settings, fields, message):
    job = imported(**fields)
    assert (job.state, job.message[: len(message)]) == ("failed", message)
    assert ("\n" in job.message, str(settings.FILE_CACHE) in job.message) == (False, False)
    assert not Collection.objects.exists()
    assert not default_storage.exists(job.params["files"]["captions"]["path"])
    assert [path for path in settings.FILE_CACHE.rglob("*") if path.is_file()] == []


REFUSED = [
    ({}, "captions"),
    ({"captions": ("b.exe", b"x")}, "captions"),
    ({"captions": ("b.json", b"x"), "images": ("p.rar", b"x")}, "images"),
]


def test_an_import_that_cannot_work_is_refused_at_once_at_its_field(researcher):
    for fields, field in REFUSED:
        answer = upload(researcher, **fields)
        assert (answer.status_code, [*answer.context["form"].errors]) == (422, [field]), fields
    assert not Job.objects.exists()


def test_a_failed_import_leads_back_to_its_form(researcher, imported):
    imported(captions=BIRDS)
    job = imported(captions=("more.jsonl", captions(kea="a kea")), skip_missing="on")
    page = researcher.get(f"/jobs/{job.pk}/")
    form = researcher.get(page.context["outcome"].url).context["form"]
    assert [form[name].value() for name in ("collection", "append", "skip_missing")] == ["birds", False, "True"]


def test_the_files_of_a_cancelled_job_are_removed(researcher):
    upload(researcher, captions=BIRDS)
    job = Job.objects.get()
    researcher.post(f"/jobs/{job.pk}/cancel/")
    look_at_import(str(job.pk))
    assert not default_storage.exists(job.params["files"]["captions"]["path"])
    assert not Collection.objects.exists()


def test_matches_are_imported_by_a_job_or_change_nothing(researcher, jobs_run):
    zoo = make_collection(images=3)
    pairs = "image\tcaption\tscore\n0\t3\t4.5\n1\t0\t2\n"
    files = {"done": ("m.tsv", pairs.encode()), "failed": ("m.csv", b"image,caption\n99,3\n")}
    for state, file in files.items():
        with jobs_run():
            sent = {"source": "cxc", "file": SimpleUploadedFile(*file)}
            researcher.post("/collections/zoo/matches/import/", sent)
        assert Job.objects.order_by("created_at").last().state == state
        assert zoo.matches.filter(source="cxc").count() == 2
    assert Event.objects.get(verb="matches imported").actor == "researcher"


def test_a_sample_is_drawn_by_number(researcher):
    make_collection(images=5)
    drawn = researcher.post("/collections/zoo/sample/", {"name": "drawn", "images": 2, "captions": 0, "seed": 7})
    assert drawn.url == "/collections/zoo/samples/"
    made = Sample.objects.get()
    assert (made.images.count(), made.captions.count(), made.seed) == (2, 0, 7)
    assert Event.objects.get(verb="sampled").actor == "researcher"


def test_a_sample_that_cannot_be_made_is_refused(researcher):
    make_collection(images=2)
    for images in ("3", "-1"):
        fields = {"name": "s", "seed": 0, "images": images, "captions": 0}
        assert researcher.post("/collections/zoo/sample/", fields).status_code in (409, 422)
    assert not Sample.objects.exists()


def test_a_test_is_made_and_listed_or_refused(researcher):
    make_collection(images=12, pictures=True)
    page, fields = "/collections/zoo/test/", {"name": "entry", "positives": 3, "negatives": 3, "attempts": 2, "seed": 0}
    assert researcher.post(page, {**fields, "pass_mark": 3}).status_code == 409
    assert researcher.post(page, {**fields, "pass_mark": 5}).url == "/tests/entry/"
    (test,) = researcher.get("/collections/zoo/samples/").context["tests"]
    assert (test.name, test.n_items, test.pass_mark) == ("entry", 6, 5)
    assert Event.objects.get(verb="made").actor == "researcher"
