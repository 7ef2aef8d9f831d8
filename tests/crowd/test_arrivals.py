"""A visitor of a round that a platform lists as a whole: what they read, agree to and are given."""

from annotation.models import Assignment, Exclusion, Judgment, Payment, Worker
from annotation.money.ledger import balances
from annotation.people.admission import pairs_seen
from annotation.people.consent import write_words
from core.models import Event
from crowd.posting.seats import places_missing
from crowd.visits.arrivals import TWO_PEOPLE
from hits.models import Seat
from tests.annotation.answering import as_form, right_answers
from tests.crowd.session_fakes import agree, enter, start, start_without_hit, sync, work


def test_the_address_loses_the_id_of_the_person(client, made, there):
    there.come("S1", "P1SECRET")
    address = enter(client, worker="P1SECRET")
    assert "P1SECRET" not in address
    page = client.get(address)
    assert (page["Referrer-Policy"], page["X-Frame-Options"]) == ("no-referrer", "DENY")
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert not any("P1SECRET" in str(event.data) for event in Event.objects.all())


def test_an_answer_to_an_outdated_consent_sheet_is_asked_again(client, made, there):
    there.come("S1", "P1")
    assert client.post(enter(client), {"consent": "yes", "sheet": "0"}).status_code == 422
    assert not Assignment.objects.exists()


def test_a_sheet_that_changes_while_the_platform_is_asked_is_shown_again(client, made, there, monkeypatch):
    there.come("S1", "P1")
    words = dict.fromkeys(("researchers", "payment_terms", "contact"), "Changed.")
    monkeypatch.setattr(there, "confirm", lambda *_: write_words(made, actor="kim", **words) or True)
    page = agree(client, enter(client))
    assert (page.status_code, "Changed." in page.text) == (422, True)
    assert (Assignment.objects.count(), Worker.objects.get().consents.count()) == (0, 0)


def test_answers_that_are_sent_twice_still_lead_back_by_themselves_and_to_another_hit(client, made, there):
    sheet = start(client, there)
    assignment = Assignment.objects.get()
    for _ in range(2):
        page = client.post(sheet, as_form(assignment, right_answers(assignment))).text
        assert "judging/sending.js" in page
        assert 'method="get"' in page
    assert Judgment.objects.count() == 4


def test_who_has_judged_all_gets_no_hit_and_is_paid(client, made, there, commit):
    with commit(execute=True):
        work(client, there, "S1", "P1"), work(client, there, "S2", "P1")
    there.come("S3", "P1")
    page = agree(client, enter(client, "S3", "P1"))
    assert "NOWORK1" in page.text
    assert "NOWORK1" in client.get(enter(client, "S3", "P1")).text
    there.come("S3", "P1", "submitted")
    sync(made, commit)
    assert Payment.objects.filter(state="paid").count() == 3
    assert sum(balances(made).values()) == 0
    Seat.objects.update(state="filled")
    sync(made, commit)
    assert places_missing([made])[made.pk] == 0


def test_a_visitor_without_a_hit_may_judge_every_hit_later(client, made, there, commit):
    Seat.objects.update(state="filled")
    with commit(execute=True):
        start_without_hit(client, there, "S1", "P1")
    there.come("S1", "P1", "submitted")
    sync(made, commit)
    there.come("S2", "P1", "submitted")
    sync(made, commit)
    assert Assignment.objects.filter(has_hit=False).count() == 2
    assert pairs_seen(Worker.objects.get()) == set()
    Seat.objects.update(state="open")
    work(client, there, "S3", "P1")
    work(client, there, "S4", "P1")
    assert (Judgment.objects.count(), Worker.objects.count()) == (8, 1)


def test_who_comes_after_the_platform_lists_the_session_as_finished_reads_that_a_person_looks(
    client, made, there, commit
):
    there.come("S9", "P9", "submitted")
    sync(made, commit)
    page = client.get(enter(client, "S9", "P9"))
    assert page.status_code == 409


def test_a_visitor_cannot_consent_under_another_workers_id(client, made, there):
    there.come("S1", "P1")
    assert agree(client, enter(client, "S1", "MALLORY")).status_code == 403
    assert agree(client, enter(client, "S2", "P1")).status_code == 403
    assert not Assignment.objects.exists()
    victim = Worker.objects.get(identities__external_id="P1")
    assert (victim.consented_at, victim.consents.count()) == (None, 0)
    assert not Event.objects.filter(verb="consented").exists()
    start(client, there, "S1", "P1")
    victim.refresh_from_db()
    assert victim.consented_at
    assert Event.objects.filter(verb="consented").count() == 1


def test_a_session_that_two_people_bring_waits_for_a_person(client, made, there):
    there.unreachable = True
    start(client, there, "S1", "P1")
    assert agree(client, enter(client, "S1", "P2")).status_code == 409
    assert Worker.objects.get(consented_at__isnull=False) == Assignment.objects.get().worker
    assert Assignment.objects.get().problem == TWO_PEOPLE


def test_an_excluded_person_gets_no_hit(client, made, there):
    start(client, there)
    Exclusion.objects.create(worker=Worker.objects.get(), reason="x", by="robin")
    there.come("S2", "P1")
    assert client.get(enter(client, "S2", "P1")).status_code == 200
    assert agree(client, enter(client, "S2", "P1")).status_code == 403
