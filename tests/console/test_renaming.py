"""rename: what a person named gets another name, and all goes on as before."""

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.core.management import CommandError
from django.urls import reverse

from annotation.models import QualificationTest
from console.inventory import remove
from core.models import Event, Job
from corpus.imports import import_collection
from corpus.matches import import_matches, known_pairs
from corpus.models import Batch, Collection, Image
from hits.models import Round
from mitl.models import Annotator, Pool
from tests.commands import figures_printed, output_of
from tests.console.api.calls import caller_for, check_refused
from tests.corpus.files import jsonl, line, picture_folder
from tests.dataset.releasing import release_version
from tests.factories import make_annotator, make_collection, make_round, make_sample, put_on_platform

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoo(tmp_path) -> Collection:
    folder = picture_folder(tmp_path / "pictures", *(f"{number}.jpg" for number in range(6)))
    path = jsonl(tmp_path / "zoo.jsonl", *(line(number, number // 2) for number in range(12)))
    import_collection("zoo", format="jsonl", path=path, images=folder)
    return Collection.objects.get()


@pytest.fixture
def site(zoo, tmp_path) -> Round:
    """Something of every kind."""
    (tmp_path / "cxc.csv").write_text("image,caption\n0,2\n")
    import_matches(zoo, source="cxc", path=tmp_path / "cxc.csv")
    QualificationTest.objects.create(name="easy", collection=zoo, pass_mark=1, seed=0)
    make_annotator("words")
    made = make_round(zoo, candidates=2)
    Pool.objects.update(beyond="cxc")
    Annotator.objects.update(trained_on={"collection": "zoo", "matches": "cxc"})
    return made


def remove_dependants() -> None:
    Annotator.objects.update(trained_on={})
    Round.objects.update(published_at=None)
    for kind, thing in (("round", Round), ("pool", Pool)):
        remove(kind, thing.objects.get().name, actor="kim")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("collection", "zoo"), ("batch", "zoo-2"), ("source", "zoo/cxc"), ("sample", "queries-zoo"), ("test", "easy"),
        ("pool", "pool-round-1"), ("round", "round-1"), ("annotator", "words"),
    ],
)  # fmt: skip
def test_what_a_person_named_gets_another_name(site, kind, name):
    assert output_of("rename", kind, name, "new").splitlines() == [f"renamed: {kind} {name}", "to: new"]
    listed = "zoo/new" if kind == "source" else "new"
    assert figures_printed("show", kind, listed)["name"] == listed
    with pytest.raises(CommandError, match=f"Unknown .*{name}"):
        output_of("show", kind, name)
    assert Event.objects.filter(verb="renamed", data={"old": name, "name": "new"}).count() == 1
    with pytest.raises(CommandError, match="new is its name already"):
        output_of("rename", kind, listed, "new")


def test_a_name_that_another_has_is_refused(site, zoo, tmp_path):
    make_collection("farm")
    (tmp_path / "eccv.csv").write_text("image,caption\n1,4\n")
    import_matches(zoo, source="eccv", path=tmp_path / "eccv.csv")
    for kind, name, taken in (
        ("collection", "zoo", "farm"),
        ("batch", "zoo-1", "zoo-2"),
        ("source", "zoo/cxc", "eccv"),
    ):
        with pytest.raises(CommandError, match=f"Another {kind} is named {taken}. Choose another name"):
            output_of("rename", kind, name, taken)


def test_the_matches_of_a_renamed_source_are_found_by_its_name(site, zoo):
    output_of("rename", "source", "zoo/cxc", "new")
    assert len(known_pairs(zoo, "new")) == 1
    assert (Pool.objects.get().beyond, Annotator.objects.get(name="words").trained_on["matches"]) == ("new", "new")
    output_of("rename", "collection", "zoo", "farm")
    assert Annotator.objects.get(name="words").trained_on["collection"] == "farm"


def test_pictures_stay_where_they_are_also_with_a_new_collection_of_the_old_name(zoo, tmp_path, commit):
    output_of("rename", "collection", "zoo", "farm")
    path = jsonl(tmp_path / "zoo.jsonl", line(0, 0))
    import_collection("zoo", format="jsonl", path=path, images=tmp_path / "pictures")
    with commit(execute=True):
        remove("collection", "zoo", actor="kim")
    assert all(map(default_storage.exists, Image.objects.values_list("file", flat=True)))
    import_collection("farm", format="jsonl", path=path, images=tmp_path / "pictures")
    assert [batch.name for batch in Batch.objects.all()] == ["zoo-1"]


def test_jobs_that_have_ended_lead_to_the_new_name_and_live_ones_keep_the_old_one(site):
    job = Job.objects.create(title="Count votes", task="x", params={"round": "round-1", "pool": "round-1"})
    with pytest.raises(CommandError, match="The job Count votes works with round-1"):
        output_of("rename", "round", "round-1", "new")
    Job.objects.update(state="done")
    output_of("rename", "round", "round-1", "new")
    job.refresh_from_db()
    assert job.params == {"round": "new", "pool": "round-1"}


def test_what_is_published_keeps_its_name(zoo, site):
    put_on_platform(site)
    release_version("v1", collection=zoo, sample=make_sample(zoo), merge="cxc")
    for kind, name, carried in (
        ("round", "round-1", r"1 platform \(mturk\)"),
        ("version", "v1", r"1 manifest \(v1\)"),
        ("collection", "zoo", r"1 version \(v1\)"),
        ("sample", "queries", r"1 version \(v1\)"),
        ("source", "zoo/cxc", r"1 version \(v1\)"),
    ):
        with pytest.raises(CommandError, match=f"{name} keeps its name, which .*{carried}"):
            output_of("rename", kind, name, "new")


@pytest.mark.parametrize("new", ["", "a b", "x" * 81, "ünder/way"])
def test_an_invalid_name_is_refused(zoo, new):
    with pytest.raises(CommandError, match="(?i)name"):
        output_of("rename", "collection", "zoo", new)


def test_pages_rename_and_undo_for_researchers_alone(site, member, reviewer, researcher):
    rename, undo = reverse("rename", args=["round", "round-1"]), reverse("batch_undo", args=["zoo-2"])
    for address in (rename, undo):
        assert [client.post(address).status_code for client in (member, reviewer)] == [403, 403]
    assert researcher.post(rename, {"name": "a b"}).status_code == 422
    assert researcher.post(rename, {"name": "spring"}).url == reverse("round", args=["spring"])
    assert "used by 1 round (spring)" in researcher.get(undo).content.decode()
    remove_dependants()
    assert "Take it back" in researcher.get(undo).content.decode()
    assert researcher.post(undo).url == reverse("collection", args=["zoo"])
    again = researcher.post(undo)  # a double click
    assert again.status_code == 409
    assert "was undone already" in again.content.decode()


def test_calls_rename_and_undo(site, researcher):
    caller = caller_for(User.objects.get(username="researcher"), "data:read", "data:write")
    renamed = caller.post("/names", {"kind": "batch", "name": "zoo-2", "new": "second"})
    assert (renamed.status_code, renamed.json()) == (200, {"kind": "batch", "name": "second"})
    check_refused(caller.post("/batches/second/undo", {}), 422, "round-1")
    remove_dependants()
    assert caller.post("/batches/second/undo", {}).json()["undone_by"] == "researcher"
