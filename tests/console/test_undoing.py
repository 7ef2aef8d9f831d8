"""undo: an import is taken back while nothing depends on what it brought."""

import json

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError

import dataset.releases.release
import dataset.verdicts
import hits.rounds.packed_rounds
from annotation.models import Assignment, Decision, Judgment, Worker
from console.inventory import remove
from core.errors import CounterpartError
from core.models import Event
from corpus import imports
from corpus.imports import import_collection, import_pictures
from corpus.matches import import_matches
from corpus.models import Batch, Caption, Collection, Image, Match
from corpus.samples import sample_queries
from dataset.models import Review
from dataset.outside_judgments.judgment_import import import_judgments
from dataset.verdicts import aggregate_round
from hits.models import Round, Seat
from tests.at_once import at_once
from tests.commands import output_of
from tests.corpus.files import jsonl, line, picture_folder
from tests.dataset.releases.test_release_failures import before
from tests.dataset.releasing import release_version
from tests.factories import make_annotator, make_retrieval, make_round, make_sample
from tests.hits.pools import pack, pool_of

ROWS = [line(1, 10, split="test"), line(2, 11, split="test"), line(3, 12, split="test")]
MORE = [line(4, 12, split="test"), line(5, 13, split="test")]


@pytest.fixture
def zoo(db, tmp_path) -> Collection:
    import_collection("zoo", format="jsonl", path=jsonl(tmp_path / "first.jsonl", *ROWS))
    return Collection.objects.get()


@pytest.fixture
def grow(zoo, tmp_path):
    """Import again into the zoo, as the kind says."""

    def captions():
        path = jsonl(tmp_path / "more.jsonl", *MORE)
        folder = picture_folder(tmp_path / "new", "12.jpg", "13.jpg")
        import_collection("zoo", format="jsonl", path=path, images=folder, append=True, language="en")

    def pictures():
        import_pictures(zoo, picture_folder(tmp_path / "pictures", "10.jpg", "11.jpg"), skip_missing=True)

    def matches(text="image,caption,score\n10,2,4\n", name="cxc.csv"):
        (tmp_path / name).write_text(text)
        import_matches(zoo, source="cxc", path=tmp_path / name)

    kinds = {"captions": captions, "pictures": pictures, "matches": matches}

    def imported(kind, *given):
        kinds[kind](*given)
        return Batch.objects.last()

    return imported


def rows() -> list:
    kept = (Collection, Image, Caption, Match)
    return [list(model.objects.order_by("pk").values()) for model in kept]


def undone(batch: object) -> str:
    return output_of("undo", batch, "--yes")


@pytest.mark.parametrize("kind", ["captions", "pictures", "matches"])
def test_an_import_is_taken_back_with_all_that_it_brought(grow, commit, kind):
    before = rows()
    batch = grow(kind)
    files = list(Image.objects.exclude(file="").values_list("file", flat=True))
    with commit(execute=True):
        assert undone(batch).startswith("undone: zoo-2\nbrought: ")
    assert rows() == before
    assert not any(map(default_storage.exists, files))
    assert Event.objects.filter(verb="undone", data__name="zoo-2").count() == 1
    with pytest.raises(CommandError, match="zoo-2 was undone already, by undo"):
        undone(batch)
    grow(kind)
    assert Batch.objects.last().name == "zoo-3"


def test_a_picture_that_another_image_has_too_keeps_its_file(grow, zoo, tmp_path, commit):
    first = grow("pictures")
    picture_folder(tmp_path / "again", "12.jpg")
    import_pictures(zoo, tmp_path / "again", skip_missing=True)
    with commit(execute=True):
        undone(first)
    image = Image.objects.exclude(file="").get()
    assert image.key == "12"
    assert default_storage.exists(image.file)


def test_a_file_of_a_source_leaves_those_of_other_files(grow):
    first = grow("matches", "image,caption\n10,2\n10,3\n", "one.csv")
    grow("matches", "image,caption\n10,3\n11,1\n", "two.csv")
    undone(first)
    assert list(Match.objects.filter(source="cxc").values_list("image__key", "caption__key")) == [("11", "1")]


def test_it_asks_before_and_lists_the_imports_of_a_collection(grow, monkeypatch):
    grow("captions")
    shown = json.loads(output_of("show", "collection", "zoo", "--json"))["batches"]
    assert [(one["name"], one["brought"], one["file"]) for one in shown] == [
        ("zoo-1", "3 captions, 3 images", "first.jsonl"),
        ("zoo-2", "2 captions, 1 image, 2 pictures", "more.jsonl"),
    ]
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    with pytest.raises(CommandError, match=r"Nothing was undone\. Answer y, or pass --yes\."):
        output_of("undo", "zoo-2")
    assert asked == ["zoo: 2 captions, 1 image, 2 pictures from more.jsonl. Take this back? [y/N] "]


def sampled(zoo, tmp_path):
    (tmp_path / "ids").write_text("13\n")
    sample_queries("birds", collection=zoo, images=tmp_path / "ids", captions=0)


def searched(zoo, tmp_path):
    make_retrieval(make_annotator(), make_sample(zoo), depth=2)


def reviewed(zoo, tmp_path):
    from django.contrib.auth.models import User

    caption = Caption.objects.get(key="4")
    Review.objects.create(collection=zoo, caption=caption, conclusion="kept", by=User.objects.create(username="kim"))


def matched(zoo, tmp_path):
    (tmp_path / "own.csv").write_text("image,caption\n13,1\n")
    import_matches(zoo, source="own", path=tmp_path / "own.csv")


def captioned(zoo, tmp_path):
    import_collection("zoo", format="jsonl", path=jsonl(tmp_path / "x.jsonl", line(9, 13, split="test")), append=True)


def released(zoo, tmp_path):
    release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original,cxc>=3")


def packed(zoo, tmp_path):
    make_round(zoo, candidates=1, published=False)


@pytest.mark.parametrize(
    ("kind", "depend", "named"),
    [
        ("captions", sampled, r"1 sample \(birds\)"),
        ("captions", searched, r"1 search \(\d+ by overlap\)"),
        ("captions", packed, r"1 pool \(pool-round-1\), 1 round \(round-1\)"),
        ("captions", reviewed, r"1 review \(\d+\)"),
        ("captions", matched, r"1 later import \(zoo-3\)"),
        ("captions", captioned, r"1 later import \(zoo-3\)"),
        ("pictures", searched, r"1 search \(\d+ by overlap\)"),
        ("matches", packed, r"1 round \(round-1\)"),
        ("matches", released, r"1 version \(v1\)"),
    ],
)
def test_what_depends_on_an_import_is_named_and_nothing_changes(grow, zoo, tmp_path, kind, depend, named):
    batch = grow(kind)
    depend(zoo, tmp_path)
    before = rows()
    with pytest.raises(CommandError, match=f"^{batch} cannot be undone: it is used by .*{named}"):
        undone(batch)
    assert rows() == before


@pytest.fixture
def judged(db, tmp_path) -> Round:
    made = make_round(hits=1, candidates=3, published=False)
    votes = [{"id": f"r{i}", "image": str(i), "caption": str(2 * i + 2), "match.responses": ["1"]} for i in range(3)]
    by = {"match.responses.users": ["ada"], "match.responses.status": ["submitted"]}
    (tmp_path / "records.json").write_text(json.dumps([one | by for one in votes]))
    import_judgments(made, tmp_path / "records.json")
    (tmp_path / "again.json").write_text(json.dumps([one | by | {"match.responses.users": ["eve"]} for one in votes]))
    import_judgments(made, tmp_path / "again.json")
    return made


def test_judgments_are_taken_back_with_their_workers_and_seats(judged):
    assert (Seat.objects.count(), Judgment.objects.count()) == (2, 6)
    undone("zoo-1")
    assert list(Seat.objects.values_list("state", flat=True)) == ["open", "filled"]
    undone("zoo-2")
    assert list(Seat.objects.values_list("state", flat=True)) == ["open"]
    assert not any(model.objects.exists() for model in (Judgment, Assignment, Decision, Worker))


def test_judgments_that_were_counted_stay(judged):
    aggregate_round(judged)
    with pytest.raises(CommandError, match=r"1 vote count \(round-1 by majority\)"):
        undone("zoo-1")
    judged.aggregations.all().delete()
    Round.objects.update(published_at=judged.created_at)
    with pytest.raises(CommandError, match="Round round-1 is open for workers"):
        undone("zoo-1")


# What is undone while another process computes is noticed before anything is written


def test_a_release_that_began_before_is_refused(grow, zoo, monkeypatch):
    sample = make_sample(zoo)
    grow("captions")
    before(monkeypatch, dataset.releases.release, "_enter", lambda: undone("zoo-2"))
    with pytest.raises(CounterpartError, match="^An import into zoo was undone meanwhile"):
        release_version("v1", collection=zoo, sample=sample, merge="original")
    assert Match.objects.count() == 3


def test_a_pack_that_began_before_is_refused(db, tmp_path, monkeypatch):
    pool = pool_of()
    (tmp_path / "cxc.csv").write_text("image,caption\n1,9\n")
    import_matches(pool.collection, source="cxc", path=tmp_path / "cxc.csv")
    before(monkeypatch, hits.rounds.packed_rounds, "_write", lambda: undone("zoo-pool-1"))
    with pytest.raises(CounterpartError, match="^An import into zoo-pool was undone meanwhile"):
        pack("round-1", pool)
    assert not Round.objects.exists()
    pack("round-1", pool)


def test_a_count_of_votes_that_began_before_is_refused(judged, monkeypatch):
    before(monkeypatch, dataset.verdicts, "certainty_of", lambda: undone("zoo-1"))
    with pytest.raises(CounterpartError, match="^An import into zoo was undone meanwhile"):
        aggregate_round(judged)


def test_an_import_that_began_before_is_refused(grow, zoo, tmp_path, monkeypatch):
    grow("captions")
    before(monkeypatch, imports, "_write", lambda: undone("zoo-2"))
    with pytest.raises(CounterpartError, match="^An import into zoo was undone meanwhile"):
        captioned(zoo, tmp_path)
    assert Caption.objects.count() == 3


def test_of_two_at_once_one_takes_it_back(transactional_db, tmp_path):
    import_collection("zoo", format="jsonl", path=jsonl(tmp_path / "first.jsonl", *ROWS))

    def undo() -> str:
        try:
            return str(remove("batch", "zoo-1", actor="kim"))
        except CounterpartError as error:
            return str(error)

    said = at_once(undo, undo)
    assert "None" in said
    assert any("zoo-1 was undone already, by kim" in one for one in said)
    assert Event.objects.filter(verb="undone").count() == 1
