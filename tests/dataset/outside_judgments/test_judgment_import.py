import csv

import pytest
from django.utils import timezone

import dataset.outside_judgments.judgment_import
from annotation.models import Assignment, Decision, Judgment, Payment, Worker, WorkerIdentity
from core.errors import CounterpartError
from core.models import Event
from dataset.exports import export_version
from dataset.models import Verdict
from dataset.outside_judgments.judgment_import import _placed, import_judgments
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from dataset.verdicts import aggregate_round
from dataset.versions.version_files import checked_file, load_judgments
from hits.models import Round, Seat
from tests.annotation.cast import answer, candidates, propose, say
from tests.dataset.releasing import allow_percentages, release
from tests.factories import make_annotator, make_assignment, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def round():
    """Two HITs with two votes each, one of them by a program, and one answer set excluded; with reasons."""
    made = make_round(hits=2, candidates=3, replication=2)
    first, second = made.hits.all()
    answer(first, 4, 4, 4, state="excluded")
    answer(first, 1, 2, 4)
    answer(first, 2, 2, 3, seat=2)
    answer(second, 1, 1, 1)
    assignment = make_assignment(second.seats.get(number=2), Worker.objects.create(simulated=True))
    for item in second.items.all():
        say(assignment, item, 3 if item.place == 1 else 2, "wrong_way", "color")
    Assignment.objects.filter(pk=assignment.pk).update(state="accepted", active_seconds=240)
    assignment.judgments.filter(level=3).update(seconds=17)
    Seat.objects.update(state="filled")
    propose(made, candidates(first) + candidates(second), make_annotator("vsrn"))
    return made


@pytest.fixture
def version(round):
    return release(round, partial=True)


@pytest.fixture
def again(round):
    """A round of the same HITs without answers."""
    return make_round(round.pool.collection, "again", hits=2, candidates=3, replication=2, published=False)


def file_of(version, tmp_path, format="judgments-long"):
    return export_version(version, format=format, out=tmp_path)[0]


def changed(path, **values):
    """Write the file again with other values in its first row."""
    header, first, *rest = list(csv.reader(path.open(newline="")))
    row = dict(zip(header, first, strict=True)) | values
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, list(row.values()), *rest])
    return path


def test_released_exported_and_imported_judgments_give_the_same_verdicts_and_keep_what_is_known(
    version, again, tmp_path
):
    imported = import_judgments(again, file_of(version, tmp_path))
    assert (imported.judgments, imported.answer_sets, imported.workers) == (25, 5, 5)
    second = release(again, "v2", partial=True)
    assert checked_file(version, "pairs.csv").read_text() == checked_file(second, "pairs.csv").read_text()
    kept = ("hit", "assignment", "place", "control", "image", "caption", "level", "shortcoming", "wrong_way")
    more = ("at", "active_seconds", "simulated", "counted", "seconds")
    before, after = (
        [[getattr(row, name) for name in (*kept, *more)] for row in load_judgments(one)] for one in (version, second)
    )
    assert before == after
    assert {row.channel for row in load_judgments(second)} == {"import"}
    known = {row.worker for row in load_judgments(version)}
    names = set(WorkerIdentity.objects.filter(channel="import").values_list("external_id", flat=True))
    assert (len(names), names & known) == (len(known), set())
    assert Event.objects.filter(verb="imported", data__judgments=25).exists()


def test_no_worker_is_paid_for_imported_work_and_its_seats_are_filled(version, again, tmp_path):
    import_judgments(again, file_of(version, tmp_path))
    assert not Payment.objects.exists()
    assert set(Seat.objects.filter(hit__round=again).values_list("state", flat=True)) == {"filled"}
    decided = Decision.objects.filter(assignment__hit__round=again).values_list("votes_count", "paid")
    assert sorted(decided) == [(False, False), *[(True, False)] * 4]


def test_seats_are_added_for_more_answer_sets_than_are_wanted(round, version, tmp_path):
    single = make_round(round.pool.collection, "single", hits=2, candidates=3, published=False)
    assert import_judgments(single, file_of(version, tmp_path)).seats_added == 2
    assert Seat.objects.filter(hit__round=single, state="filled").count() == 4


def test_other_answers_than_were_imported_before_are_refused(version, again, tmp_path):
    path = file_of(version, tmp_path)
    import_judgments(again, path)
    with pytest.raises(CounterpartError, match="1 answer differs"):
        import_judgments(again, changed(path, level="2"))


def test_answers_missing_from_an_imported_answer_set_are_refused(version, again, tmp_path):
    path = file_of(version, tmp_path)
    whole = path.read_text()
    header, first, *rest = whole.splitlines(keepends=True)
    path.write_text("".join([header, *rest]))
    import_judgments(again, path)
    path.write_text(whole)
    with pytest.raises(CounterpartError, match="1 answer belongs"):
        import_judgments(again, path)


def test_what_the_round_does_not_know_is_named_and_changes_nothing(version, again, tmp_path):
    before = Judgment.objects.count(), Worker.objects.count()
    for values, message in (
        ({"hit": "9"}, "1 pair of the file cannot be found in HIT 9: image"),
        ({"image": "77"}, "1 pair of the file cannot be found in HIT 1: image 77 with caption 2"),
        ({"control": "positive"}, "1 pair is a control in the file or in the round but not in both"),
        ({"level": "5"}, r"1 invalid value: '5' in line 2; level is one of 1, 2, 3, 4. Correct the file"),
        ({"shortcoming": "ugly"}, "1 invalid value: 'ugly' in line 2; shortcoming is one of nothing, not_in_image"),
        ({"hit": "one"}, "1 invalid value: 'one' in line 2; hit is a whole number"),
        ({"seconds": "-3"}, "1 invalid value: '-3' in line 2; seconds is a whole number"),
        ({"at": "yesterday"}, "1 invalid value: 'yesterday' in line 2; use UTC times"),
    ):
        wrong = changed(file_of(version, tmp_path / next(iter(values.values()))), **values)
        with pytest.raises(CounterpartError, match=message):
            import_judgments(again, wrong)
        assert (Judgment.objects.count(), Worker.objects.count()) == before


def test_a_worker_who_judges_a_pair_twice_is_refused(version, again, tmp_path):
    path = file_of(version, tmp_path)
    first, second = sorted({row.worker for row in load_judgments(version) if row.hit == 1})[:2]
    path.write_text(path.read_text().replace(first, second))
    with pytest.raises(CounterpartError, match="5 answers repeat a worker"):
        import_judgments(again, path)


def test_an_open_round_takes_no_imports(version, round, tmp_path):
    with pytest.raises(CounterpartError, match="round-1 is open"):
        import_judgments(round, file_of(version, tmp_path))


def test_a_draft_that_is_published_while_its_file_is_read_takes_no_imports(version, again, tmp_path, monkeypatch):
    def read(round, *given):
        Round.objects.filter(pk=round.pk).update(published_at=timezone.now())
        return _placed(round, *given)

    monkeypatch.setattr("dataset.outside_judgments.judgment_import._placed", read)
    with pytest.raises(CounterpartError, match="is open"):
        import_judgments(again, file_of(version, tmp_path))
    assert not Judgment.objects.filter(assignment__hit__round=again).exists()


def test_one_of_several_rounds_of_a_file_is_chosen_by_name(version, again, tmp_path):
    path = file_of(version, tmp_path)
    changed(path, round="another")
    with pytest.raises(CounterpartError, match="another, round-1. .*--from"):
        import_judgments(again, path)
    assert import_judgments(again, path, wanted=JudgmentParameters(from_round="round-1")).judgments == 24


def test_votes_without_answer_sets_have_verdicts_and_no_percentage(version, again, tmp_path, monkeypatch):
    import_judgments(again, file_of(version, tmp_path, "judgments-csv"))
    allow_percentages(monkeypatch)
    assert aggregate_round(again)["silent"].startswith("12 of 12 votes are of answer sets without a control")
    assert Verdict.objects.filter(aggregation__round=again, probability=None).count() == 0


def test_raw_answers_are_taken_once_however_many_annotators_proposed_the_pair(round, again, tmp_path):
    first, second = round.hits.all()
    propose(round, candidates(first), make_annotator("clip"))
    propose(round, candidates(first), make_annotator("pcme"), "t2i")
    path = file_of(release(round, partial=True), tmp_path, "judgments-csv")
    assert import_judgments(again, path).judgments == 12
    assert import_judgments(again, path).judgments == 0


def test_raw_answers_that_differ_between_proposals_are_refused(round, again, tmp_path):
    propose(round, candidates(round.hits.first()), make_annotator("clip"))
    path = file_of(release(round, partial=True), tmp_path, "judgments-csv")
    with pytest.raises(CounterpartError, match="1 pair .*: image 0 with"):
        import_judgments(again, changed(path, annotation="3"))


def test_a_missing_column_is_named(version, again, tmp_path):
    path = file_of(version, tmp_path)
    path.write_text(path.read_text().replace("worker", "who", 1))
    with pytest.raises(CounterpartError, match="Columns missing from .*: worker"):
        import_judgments(again, path)


def test_judgments_that_another_process_imported_meanwhile_are_not_imported_twice(
    version, again, tmp_path, monkeypatch
):
    path = file_of(version, tmp_path)
    step = dataset.outside_judgments.judgment_import.answer_sets

    def later(rows):
        monkeypatch.setattr(dataset.outside_judgments.judgment_import, "answer_sets", step)
        import_judgments(again, path, wanted=JudgmentParameters(from_round="round-1"))
        return step(rows)

    monkeypatch.setattr(dataset.outside_judgments.judgment_import, "answer_sets", later)
    with pytest.raises(CounterpartError, match="Another process .* again"):
        import_judgments(again, path, wanted=JudgmentParameters(from_round="round-1"))
