"""list, show, remove and dump: looking around and undoing from a terminal."""

import json

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError
from eccv_caption import Metrics
from pyarrow import parquet

from console.inventory_rows import THINGS
from console.leaderboard.benchmark_boards import figures_path
from core.files.stored_files import write_file
from core.models import Event, Job
from corpus.galleries.gallery_imports import files_of, import_gallery
from corpus.models import Collection, Image, Sample
from hits.models import HIT, Round
from mitl.models import Annotator, Pool, Retrieval
from mitl.search.gallery_embeddings import kept_in
from mitl.search.plans import store_array
from tests.annotation.cast import answer
from tests.commands import output_of
from tests.console.api.calls import caller_for
from tests.corpus.files import gallery_folder, gallery_items
from tests.dataset.releasing import release_version
from tests.factories import make_annotator, make_collection, make_pool, make_retrieval, make_round, make_sample

pytestmark = pytest.mark.django_db


def figures(*arguments: object) -> dict:
    return json.loads(output_of(*arguments, "--json"))


def holds(round: str) -> list[str]:
    """What holds a round up, with the command that helps."""
    waits_for = figures("show", "round", round)["waits_for"]
    return [f"{one['text']} ({one['command']})" if one["command"] else one["text"] for one in waits_for]


def removed(*arguments: object) -> None:
    output_of("remove", *arguments, "--yes")


@pytest.fixture
def zoo() -> Collection:
    return make_collection(pictures=True)


@pytest.fixture
def draft(zoo) -> Round:
    return make_round(zoo, published=False)


def test_without_a_word_every_kind_is_counted(draft):
    assert figures("list") == {
        "collections": 1, "batches": 0, "sources": 0, "annotators": 0, "samples": 1, "tests": 0, "galleries": 0,
        "retrievals": 0, "pools": 1, "rounds": 1, "versions": 0, "jobs": 0,
    }  # fmt: skip


def test_an_empty_list_says_how_to_begin(db):
    for things in THINGS:
        assert output_of("list", things).startswith(
            f"There are no {things} yet. Make one with {THINGS[things].made_by}."
        )
        assert figures("list", things) == {things: []}


def test_a_list_has_a_line_for_each_thing(zoo):
    make_collection("farm", images=2)
    assert output_of("list", "collections").splitlines() == [
        "name  images  captions  samples", "farm       2         4        0", "zoo        6        12        0",
    ]  # fmt: skip
    make_round(zoo)
    assert output_of("list", "rounds").splitlines() == [
        "name     state  channel  hits  filled  wanted  flagged",
        "round-1  open   browser     1       0       1        0",
    ]  # fmt: skip


def test_a_round_shows_what_it_waits_for(draft):
    assert holds("round-1")[-1].endswith("publish it. (publish round-1 --channel browser)")
    assert " ".join(holds("round-1")) in output_of("show", "round", "round-1")
    opened = make_round(make_collection("farm", images=6), "round-2")
    assert holds("round-2")[-1].endswith("more workers are needed, by the join link.")
    answer(opened.hits.get(), 1, 4)
    shown = figures("show", "rounds", "round-2")
    assert (shown["state"], shown["progress"]["filled"], shown["waits_for"]) == ("open", 1, [])
    assert "waits for: nothing" in output_of("show", "round", "round-2")


def test_list_and_show_say_what_the_api_says(zoo, researcher, person):
    sample = make_sample(zoo)
    made = make_round(zoo)
    made.pool.retrievals.add(make_retrieval(make_annotator(), sample))
    release_version("v1", collection=zoo, sample=sample, merge="original")
    Job.objects.create(title="Plan round x", task="hits.tasks.plan_round")
    caller = caller_for(person, "data:read", "retrieval:read", "rounds:read", "dataset:read", "jobs:read")
    for things in ("collections", "annotators", "samples", "retrievals", "pools", "rounds", "versions", "jobs"):
        rows = figures("list", things)[things]
        assert rows
        assert sorted(rows, key=str) == sorted(caller.get(f"/{things}").json()["results"], key=str)
        for row in rows:
            key = row.get("name") or row["id"]
            shown = figures("show", things.removesuffix("s"), key)
            assert shown == (caller.get(f"/{things}/{key}").json() if "url" in row else row)
            assert "None" not in output_of("show", things, key)


def test_a_gallery_goes_with_its_files_and_before_its_collection(db, tmp_path, commit):
    path = gallery_folder(tmp_path, *gallery_items())
    gallery = import_gallery("sea", collection=make_collection("ports"), path=path)
    files = [*files_of(gallery), store_array(f"{kept_in(gallery, make_annotator(), 'images')}/0", np.ones((5, 2)))]
    assert figures("show", "gallery", "sea")["captions"] == 5
    with pytest.raises(CommandError, match=r"1 gallery \(sea\)"):
        removed("collection", "ports")
    with commit(execute=True):
        removed("gallery", "sea")
    assert not any(default_storage.exists(file.path) for file in files)
    import_gallery("lake", collection=gallery.collection, path=path)
    removed("gallery", "lake")
    removed("collection", "ports")


def test_a_job_is_shown_by_its_number(db):
    job = Job.objects.create(title="Plan round x", task="hits.tasks.plan_round")
    assert figures("show", "job", job.pk)["state"] == "queued"
    with pytest.raises(CommandError, match=r"1 process \(queued\)"):
        removed("job", job.pk)
    Job.objects.update(state="done")
    removed("job", job.pk)
    assert not Job.objects.exists()


def test_the_figures_that_a_job_measured_go_with_it(db, commit):
    measured, other = (
        Job.objects.create(title="Measure", task="console.tasks.measure_rankings", state="done") for _ in range(2)
    )
    for job in (measured, other):
        write_file(figures_path(job), b"{}")
    with commit(execute=True):
        removed("job", measured.pk)
    assert [default_storage.exists(figures_path(job)) for job in (measured, other)] == [False, True]


def test_from_the_round_to_the_collection_everything_can_go(draft, commit):
    pictures = list(Image.objects.values_list("file", flat=True))
    with commit(execute=True):
        for thing, name in (
            ("round", "round-1"),
            ("pool", "pool-round-1"),
            ("sample", "queries-zoo"),
            ("collection", "zoo"),
        ):
            removed(thing, name)
    assert not any(model.objects.exists() for model in (Round, Pool, Sample, Collection, HIT, Image))
    assert not any(map(default_storage.exists, pictures))
    assert Event.objects.filter(verb="removed", actor="remove").count() == 4


def test_a_published_round_and_a_version_stay(zoo):
    made = make_round(zoo)
    with pytest.raises(CommandError, match=r"1 publication \(browser\)"):
        removed("round", made)
    release_version("v1", collection=zoo, sample=made.pool.sample, merge="original")
    with pytest.raises(CommandError, match="v1"):
        removed("version", "v1")


def test_the_weights_of_an_annotator_go_with_the_last_that_uses_them(zoo, commit):
    weights = write_file("annotators/shared.npz", b"weights")
    for name in ("mine", "twin"):
        annotator = make_annotator(name)
        Annotator.objects.filter(pk=annotator.pk).update(checkpoint=weights.path, checksum=weights.sha256)
    for name, stays in (("mine", True), ("twin", False)):
        with commit(execute=True):
            removed("annotator", name)
        assert default_storage.exists(weights.path) == stays


def test_an_annotator_whose_lists_a_pool_uses_stays(zoo):
    sample = make_sample(zoo)
    retrieval = make_retrieval(make_annotator(), sample)
    make_pool(sample, [retrieval], "top5")
    for thing, name in (("annotator", "overlap"), ("retrieval", retrieval.pk)):
        with pytest.raises(CommandError, match=r"1 pool \(top5\)"):
            removed(thing, name)


def test_dumped_lists_are_those_that_were_found(zoo, tmp_path):
    output_of("add_annotator", "words", "--kind", "overlap")
    make_sample(zoo)
    output_of("retrieve", "zoo", "--annotators", "words", "--queries", "queries", "--depth", 4)
    printed = figures("dump", Retrieval.objects.get().pk, tmp_path / "words.json")
    assert (printed["depth"], printed["i2t_lists"], printed["t2i_lists"]) == (4, 6, 12)
    output_of("add_annotator", "again", "--kind", "files", "--checkpoint", tmp_path / "words.json")
    output_of("retrieve", "zoo", "--annotators", "again", "--queries", "queries", "--depth", 4)
    again = figures("dump", Retrieval.objects.first().pk, tmp_path / "again.json")
    assert again["annotator"] == "again"
    assert (tmp_path / "again.json").read_text() == (tmp_path / "words.json").read_text()


def test_eccv_caption_reads_a_dump(tmp_path, db):
    """Its scores of lists that hold the first match of each query first, by the ids of its own benchmark."""
    theirs = Metrics()
    caption, (image, *_) = next(iter(theirs.eccv_gts["t2i"].items()))
    coco = make_collection(images=0)
    coco.images.create(key=str(image), file_name=f"{image}.jpg")
    coco.captions.create(key=str(caption), image=coco.images.get(), text="a dog")
    retrieval = make_retrieval(make_annotator("random"), make_sample(coco), depth=1)
    output_of("dump", retrieval.pk, tmp_path / "random.json")
    dumped = json.loads((tmp_path / "random.json").read_text())
    lists = {way: {int(query): items for query, items in found.items()} for way, found in dumped.items()}
    theirs.eccv_gts["t2i"] = {caption: theirs.eccv_gts["t2i"][caption]}
    assert theirs.eccv_recalls(lists, "t2i") == {"t2i": 1}


@pytest.mark.parametrize(
    ("suffix", "first"), [(".txt", "0\n1\n"), (".csv", "id,image,text\r\n0,0,caption 0 of image 0\r\n")]
)
def test_the_ids_of_a_collection_are_a_file(zoo, tmp_path, suffix, first):
    path = tmp_path / f"ids{suffix}"
    assert figures("show", "collection", "zoo", "--ids", "captions", "--out", path)["captions"] == 12
    assert path.read_bytes().decode().startswith(first)
    (tmp_path / "images.txt").write_text("0\n")
    output_of("sample_queries", "one", "--collection", "zoo", "--images", tmp_path / "images.txt", "--captions", path)
    assert Sample.objects.get().captions.count() == 12


def test_the_page_and_the_calls_have_the_same_ids(zoo, tmp_path, researcher, person):
    output_of("show", "collection", "zoo", "--ids", "images", "--out", tmp_path / "ids.parquet")
    table = parquet.read_table(tmp_path / "ids.parquet").to_pylist()
    assert table[0] == {"id": "0", "file_name": "0.jpg", "split": ""}
    page = researcher.get("/collections/zoo/ids/images/").getvalue().decode().splitlines()
    assert page[:2] == ["id,file_name,split", "0,0.jpg,"]
    lines = caller_for(person, "data:read").get("/collections/zoo/images?format=jsonl").getvalue().decode().splitlines()
    assert list(map(json.loads, lines)) == table


def test_a_file_without_ids_of_the_gallery_is_refused_before_others_search(zoo, tmp_path):
    ids = np.arange(5)
    np.savez(tmp_path / "own.npz", image_ids=ids, images=np.eye(5), caption_ids=ids, captions=np.eye(5))
    output_of("add_annotator", "words", "--kind", "overlap")
    output_of("add_annotator", "own", "--kind", "files", "--checkpoint", tmp_path / "own.npz")
    with pytest.raises(CommandError, match="own has no embedding of 1 images .*show collection NAME --ids images"):
        output_of("retrieve", "zoo", "--annotators", "words,own")
    assert not Retrieval.objects.exists()
