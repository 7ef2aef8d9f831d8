"""Captions that workers write: which sentences are taken, drafts, the person who reads them, and the export."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.utils.html import escape

from annotation.models import Assignment, Draft, Judgment, Report
from annotation.money.payments import mark_paid
from annotation.people.erasure import forget_worker
from annotation.review.decisions import decide
from annotation.work.answers import Answer, decode_answers, encode_answers, places_of
from annotation.work.submissions import submit_answers
from annotation.work.written_captions import core_of, has_words
from core.errors import CounterpartError
from corpus.imports import import_collection
from corpus.models import Caption, Collection
from dataset.reviews.cases import refresh_queue
from hits.models import Round
from tests.annotation.answering import address, leased, shown
from tests.factories import make_assignment, make_worker
from tests.hits.pools import pack_captions

SENTENCES = ["A dog runs on grass.", "Two people sit on a bench.", "A red kite flies."]
HARMFUL = 'A <script>alert(1)</script> & a "dog" runs.'


def form_of(*sentences: str) -> dict[str, str]:
    return {f"text-{place}": sentence for place, sentence in enumerate(sentences, 1)}


@pytest.fixture
def graded(commit):
    """Send sentences as the work of a new worker; return the graded assignment."""

    def send(made: Round, *sentences: str) -> Assignment:
        seat = made.hits.get().seats.filter(state="open").first()
        assignment = make_assignment(seat, make_worker())
        answers = [Answer(item.pk, 1, text=text) for item, text in zip(shown(assignment), sentences, strict=True)]
        with commit(execute=True):
            submit_answers(assignment, answers=answers, active_seconds=60)
        assignment.refresh_from_db()
        return assignment

    return send


def test_the_sheet_shows_pictures_rules_and_a_field_for_each_and_no_caption(stranger, caption_round):
    page = stranger.get(address("task", leased(caption_round)))
    assert page.text.count("<textarea") == 3
    assert page.text.count('alt="Picture') == 3
    assert not any(text in page.text for text in Caption.objects.values_list("text", flat=True))


def test_sentences_are_stored_as_they_were_written_but_for_blanks(stranger, caption_round):
    assignment = leased(caption_round)
    sent = form_of("  A dog\n runs  on grass. ", *SENTENCES[1:])
    assert stranger.post(address("task", assignment), sent).status_code == 302
    stored = dict(Judgment.objects.values_list("item", "text"))
    assert [stored[item.pk] for item in shown(assignment)] == SENTENCES
    assert set(Judgment.objects.values_list("level", "caption")) == {(1, None)}


def test_an_invalid_sentence_is_named_and_the_others_are_kept(stranger, caption_round):
    assignment = leased(caption_round)
    for first, problem in (
        ("", "1 picture has no answer yet: 1"),
        (" \n ", "1 picture has no answer yet: 1"),
        ("Dog.", "sentence at picture 1 has fewer than 3 words"),
        ("1 2 3 4", "fewer than 3 words"),
        ("A dog " * 300, "1,799 characters; shorten it to 1,000"),
        ("A dog runs\x07 away.", "contains 1 control character"),
        ("a red KITE flies!", "the same sentence"),
    ):
        Draft.objects.all().delete()
        page = stranger.post(address("task", assignment), form_of(first, *SENTENCES[1:]))
        assert (page.status_code, problem in page.text) == (422, True)
        assert not Judgment.objects.exists()
        kept = set(Draft.objects.values_list("text", flat=True))
        assert set(SENTENCES[1:]) <= kept
        assert all(sentence in page.text for sentence in SENTENCES[1:])


def test_a_script_without_spaces_counts_by_letters():
    assert has_words("一只狗在草地上跑。")
    assert not has_words("一只狗")


def test_two_sentences_are_the_same_whatever_their_case_and_points():
    assert core_of("A dog, running!") == core_of("a DOG running")
    assert core_of("A dog runs") != core_of("A dog run")
    assert core_of("एक लड़का दौड़ता है") != core_of("एक लड़की दौड़ती है")  # they differ in their marks alone


def test_a_text_that_was_not_asked_for_is_refused(caption_round):
    Round.objects.filter(pk=caption_round.pk).update(task="levels")
    assignment = leased(caption_round)
    answers = [Answer(item.pk, 1, text="A dog runs.") for item in shown(assignment)]
    with pytest.raises(CounterpartError, match="a text that was not asked for"):
        submit_answers(assignment, answers=answers, active_seconds=1)


def test_a_draft_keeps_a_sentence_that_is_not_complete_and_is_shown_again(stranger, caption_round):
    assignment = leased(caption_round)
    saved = stranger.post(address("draft", assignment), {"place": 2, "text-2": "A do", "seconds-2": "0"})
    assert (saved.json(), Draft.objects.get().text) == ({"errors": {}}, "A do")
    assert ">A do</textarea>" in stranger.get(address("task", assignment)).text


def test_what_was_written_wins_over_a_picture_that_does_not_load(stranger, caption_round):
    stranger.post(address("draft", leased(caption_round)), {"place": 1, "text-1": "A dog runs.", "level-1": "0"})
    assert (Draft.objects.get().level, Draft.objects.get().text) == (1, "A dog runs.")


def test_a_draft_is_escaped_on_the_sheet(stranger, caption_round):
    assignment = leased(caption_round)
    stranger.post(address("draft", assignment), {"place": 1, "text-1": f"</textarea>{HARMFUL}"})
    page = stranger.get(address("task", assignment)).text
    assert "<script>alert" not in page
    assert "&lt;/textarea&gt;" in page


def test_a_picture_that_does_not_load_needs_no_sentence_and_is_reported(stranger, caption_round):
    assignment = leased(caption_round)
    page = stranger.post(address("task", assignment), {"level-1": "0", "text-2": SENTENCES[1], "text-3": SENTENCES[2]})
    assert page.status_code == 302
    report = Report.objects.get()
    assert (report.problem, report.image, report.caption) == ("picture", shown(assignment)[0].image, None)
    assert Judgment.objects.count() == 2


def test_work_waits_for_a_person_and_is_neither_counted_nor_paid_before(caption_round, graded):
    assignment = graded(caption_round, *SENTENCES)
    assert (assignment.state, assignment.payments.count()) == ("flagged", 0)
    assert assignment.problem.startswith("A person reads the sentences")
    assert not Judgment.objects.counted().exists()


def test_accepted_work_counts_and_is_owed(caption_round, graded, person):
    assignment = graded(caption_round, *SENTENCES)
    decide(assignment, votes_count=True, paid=True, by=person, reason="Good sentences.")
    assert Judgment.objects.counted().count() == 3
    assert assignment.payments.get().state == "owed"


def test_the_reviewer_reads_the_sentences_escaped(caption_round, graded, reviewer):
    assignment = graded(caption_round, HARMFUL, *SENTENCES[1:])
    page = reviewer.get(f"/review/{assignment.pk}/").text
    assert escape(HARMFUL) in page
    assert "<script>alert" not in page
    assert "A person reads the sentences" in page
    assert (page.count('alt="Picture"'), [one in page for one in SENTENCES[1:]]) == (3, [True, True])
    assert 'name="decision"' in page


def test_the_words_of_a_forgotten_worker_are_erased_and_those_of_others_stay(caption_round, graded, person):
    first, second = graded(caption_round, *SENTENCES), graded(caption_round, *(f"{one} Twice." for one in SENTENCES))
    decide(first, votes_count=True, paid=True, by=person, reason="Good.")
    mark_paid(first.payments.get(), actor="x")
    Draft.objects.create(assignment=first, item=shown(first)[0], level=1, text="I am Jo")
    forget_worker(first.worker.pseudonym, actor="x")
    assert set(first.judgments.values_list("text", flat=True)) == {"[erased]"}
    assert Draft.objects.get().text == "[erased]"
    assert "[erased]" not in second.judgments.values_list("text", flat=True)


def test_the_compact_form_carries_every_sentence(caption_round):
    assignment = leased(caption_round)
    texts = ["A dog. Two = three %2E?", "Ein Hündchen läuft 🐕 weg.", ""]
    answers = [
        Answer(item.pk, 1 if text else 0, text=text) for item, text in zip(shown(assignment), texts, strict=True)
    ]
    places = places_of(assignment)
    assert decode_answers(encode_answers(answers, places), places) == answers


@pytest.fixture
def accepted(caption_round, graded, person) -> Round:
    """Three captions of each of two workers, accepted; those of a third wait."""
    for words in ("", " Again."):
        work = graded(caption_round, *(f"{one}{words}" for one in SENTENCES))
        decide(work, votes_count=True, paid=True, by=person, reason="Good.")
    graded(caption_round, *(f"{one} Waiting." for one in SENTENCES))
    return caption_round


def test_the_export_is_read_back_as_a_collection_with_the_captions(accepted, tmp_path, capsys):
    path = tmp_path / "captions.jsonl.gz"
    call_command("export", "written", "--format=captions", "--out", str(path), "--json")
    figures = json.loads(capsys.readouterr().out)
    assert figures == {"round": "written", "captions": 6, "images": 3, "erased": 0}
    import_collection("new", format="jsonl", path=path)
    found = Collection.objects.get(name="new")
    assert found.images.count() == 3
    texts = set(found.captions.values_list("text", flat=True))
    assert texts == {*SENTENCES, *(f"{one} Again." for one in SENTENCES)}
    by_image = dict(Judgment.objects.values_list("text", "image__key"))
    assert all(caption.image.key == by_image[caption.text] for caption in found.captions.select_related("image"))


def test_the_export_names_no_worker_and_writes_the_same_bytes_again(accepted, tmp_path):
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path in paths:
        call_command("export", "written", "--format=captions", "--out", str(path))
    assert paths[0].read_bytes() == paths[1].read_bytes()
    workers = Assignment.objects.values_list("worker__pseudonym", flat=True)
    assert not any(worker in paths[0].read_text() for worker in workers)


def test_erased_captions_are_left_out_and_counted(accepted, tmp_path, capsys):
    Judgment.objects.filter(assignment=Assignment.objects.first()).update(text="[erased]")
    call_command("export", "written", "--format=captions", "--out", str(tmp_path / "a.jsonl"), "--json")
    figures = json.loads(capsys.readouterr().out)
    assert (figures["captions"], figures["erased"]) == (3, 3)


def test_the_refusal_of_an_export_says_why_there_are_no_captions(caption_round, graded, person, tmp_path):
    def refusal() -> str:
        with pytest.raises(CommandError, match="written") as refused:
            call_command("export", "written", "--format=captions", "--out", str(tmp_path / "a.jsonl"))
        return str(refused.value)

    assert "No submission" in refusal()
    work = graded(caption_round, *SENTENCES)
    assert "1 submission waits" in refusal()
    decide(work, votes_count=True, paid=True, by=person, reason="Good.")
    Judgment.objects.update(text="[erased]")
    assert "3 captions were erased" in refusal()
    Judgment.objects.all().delete()  # as if all pictures had been reported
    assert "In 1 accepted submission" in refusal()
    Round.objects.update(task="levels")
    with pytest.raises(CommandError, match="has the task levels"):
        call_command("export", "written", "--format=captions", "--out", str(tmp_path / "a.jsonl"))
    assert not (tmp_path / "a.jsonl").exists()


def test_the_captions_are_downloaded_from_the_rounds_page(accepted, member, stranger):
    assert "/rounds/written/captions/" in member.get("/rounds/written/hits/").text
    file = b"".join(member.get("/rounds/written/captions/").streaming_content).decode()
    assert [json.loads(line)["text"] in file for line in file.splitlines()] == [True] * 6
    assert stranger.get("/rounds/written/captions/").status_code == 302


def test_a_worker_may_describe_a_picture_again_in_another_round(accepted, graded, person):
    worker = Assignment.objects.first().worker
    again = pack_captions("again")
    assignment = make_assignment(again.hits.get().seats.first(), worker)
    for item, old in zip(again.hits.get().items.all(), accepted.hits.get().items.all(), strict=True):
        item.image = old.image
        item.save()
    answers = [Answer(item.pk, 1, text=text) for item, text in zip(shown(assignment), SENTENCES, strict=True)]
    submit_answers(assignment, answers=answers, active_seconds=1)
    assert assignment.judgments.count() == 3


def test_captions_never_wait_for_a_review_of_pairs(accepted):
    assert refresh_queue(accepted.pool.collection)["waiting"] == 0
