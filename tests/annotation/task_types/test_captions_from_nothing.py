"""From a folder of pictures without captions to a collection that annotators search: workers write the captions."""

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.review.decisions import decide
from annotation.work.answers import Answer
from annotation.work.submissions import submit_answers
from core.errors import CounterpartError
from corpus.models import Collection, Image, Sample
from hits.models import Round
from hits.rounds.pipeline import check_parameters
from hits.rounds.plan_estimates import estimate_plan
from hits.rounds.round_parameters import RoundParameters
from mitl.models import Pool, Retrieval
from tests.annotation.answering import shown
from tests.corpus.files import picture_folder
from tests.factories import make_annotator, make_assignment, make_worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
NAMES = ["ant.jpg", "bee.jpg", "cat.jpg", "dog.jpg", "emu.jpg", "fox.jpg"]


@pytest.fixture
def folder(tmp_path):
    return picture_folder(tmp_path / "zoo", *NAMES)


@pytest.fixture
def bare(folder) -> Collection:
    call_command("import_collection", "zoo", str(folder), "--format=folder")
    return Collection.objects.get()


def written_by_workers(folder, person, capture) -> None:
    """Have two captions of four of the pictures written and accepted; the others have none."""
    call_command("sample_queries", "new", "--collection=zoo", "--images=4", "--captions=0", "--uncaptioned")
    call_command("pack", "writing", "--sample=new", "--task=caption", "--replication=2", "--ceiling=100")
    call_command("publish", "writing", "--channel=browser", "--below-floor")
    for seat in Round.objects.get().hits.get().seats.all():
        work = make_assignment(seat, make_worker())
        answers = [Answer(item.pk, 1, text=f"The {item.image.key[:3]} of worker {seat.pk}.") for item in shown(work)]
        with capture(execute=True):
            submit_answers(work, answers=answers, active_seconds=60)
        decide(work, votes_count=True, paid=True, by=person, reason="Good.")
    call_command("export", "writing", "--format=captions", "--out", str(folder / "written.jsonl"))


def searched(collection: str) -> Pool:
    call_command("sample_queries", "queries", f"--collection={collection}", "--images=4", "--captions=8")
    make_annotator("words")
    search = ("--annotators=words", "--queries=queries")
    call_command("retrieve", collection, *search, "--depth=4")
    call_command("pool", "first", f"--collection={collection}", *search, "--top-k=2", "--control-depth=4")
    return Pool.objects.get(name="first")


def test_written_captions_are_appended_and_searched(capsys, bare, folder, person, commit):
    assert "6 images have no caption" in capsys.readouterr().out
    written_by_workers(folder, person, commit)
    capsys.readouterr()
    call_command("import_collection", "zoo", str(folder / "written.jsonl"), "--format=jsonl", "--append", "--json")
    assert json.loads(capsys.readouterr().out) == {
        "collection": "zoo",
        "language": "",
        "captions_added": 8,
        "captions_there": 0,
        "images_added": 0,
        "pictures_added": 0,
        "images_without_captions": 2,
        "batch": "zoo-2",
        "skipped": [],
    }
    pool = searched("zoo")
    drawn = set(Sample.objects.get(name="queries").images.values_list("pk", flat=True))
    assert drawn == set(Image.objects.captioned().values_list("pk", flat=True))
    assert pool.n_pairs > 0
    lists = Retrieval.objects.get()
    assert lists.collection.images.gallery().count() == 6  # pictures without a caption are searched


REFUSAL = "No image of zoo has a caption, so there is nothing to search. Have workers write some"


def test_nothing_searches_a_collection_without_captions(bare):
    call_command("sample_queries", "new", "--collection=zoo", "--images=4", "--captions=0", "--uncaptioned")
    make_annotator("words")
    with pytest.raises(CommandError, match=REFUSAL):
        call_command("retrieve", "zoo", "--annotators=words", "--queries=new")
    plan = RoundParameters(round="r", collection="zoo", annotators=("words",), queries="new")
    for act in (check_parameters, estimate_plan):
        with pytest.raises(CounterpartError, match=REFUSAL):
            act(plan)


def test_only_captions_can_be_asked_for_where_there_are_none(bare):
    call_command("sample_queries", "new", "--collection=zoo", "--images=4", "--captions=0", "--uncaptioned")
    with pytest.raises(CommandError):
        call_command("pack", "pairs", "--sample=new", "--task=levels")
    assert not Round.objects.exists()


def test_the_pages_show_a_collection_without_captions(bare, researcher):
    form = researcher.get("/collections/zoo/sample/").context["form"]
    assert [form[name].value() for name in ("images", "captions", "uncaptioned")] == [6, 0, True]
    for address in (
        "/collections/",
        "/collections/zoo/",
        "/plan/?collection=zoo",
        f"/images/{Image.objects.first().pk}/",
    ):
        assert researcher.get(address).status_code == 200
    made = researcher.post(
        "/collections/zoo/sample/", {"name": "s", "images": 3, "captions": 0, "seed": 0, "uncaptioned": "on"}
    )
    assert made.status_code == 302
    assert (
        researcher.post("/samples/s/captions/", follow=True).redirect_chain[-1][0]
        == "/pools/s-images/pack/?task=caption"
    )
