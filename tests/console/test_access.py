from collections.abc import Callable, Iterable

import pytest
from django.db import connection, transaction
from django.http import HttpResponse
from django.template.loader import get_template
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Decision
from core.models import Job
from hits.models import Round
from tests.console.addresses import GUARDED, WEBHOOKS, address
from tests.console.conftest import Site


def named(text: str) -> set[str]:
    return {*text.split()}


RESEARCHERS_DO = named("""
    round_plan pool_pack hit_preview preview_picture round_publish round_close round_add round_again round_turn
    round_discard round_aggregate round_idle round_top_up round_judgments round_pause round_resume round_twice
    round_rehearse rehearsal_picture rehearsals round_consent round_ceiling two_reviewers
    invitations invitations_csv invitation_revoke job_cancel train annotator_add annotator_describe
    collection_import matches_import sample sample_captions test test_items batch_undo rename import_look
    benchmarks run_register run_score version_export version_measure version_verify chart_measure
    round_sync round_prolong audit_start audit_repair call_settle round_calls_send
""")
REVIEWERS_DO = named("""
    assignment_decide assignment_undo assignment_bonus assignment_return worker_assign rejection_second
    pair_conclude reviews_undo review_second pairs_review appeal_enter appeal_answer submission_pay control_rule
""")
ADMINS_DO = named("""
    doctor release version_publish version_withdraw payments_mark payments_csv worker_forget staff person person_link
""")
# Researchers and reviewers both.
STEWARDS_DO = named("""
    worker_exclude worker_readmit worker_pause worker_resume worker_write worker_link worker_note
    round_write clean_up conflicts_send webhook_add
""")
MEMBERS_DO = {"token_revoke"}  # their own
ACTS = RESEARCHERS_DO | REVIEWERS_DO | ADMINS_DO | STEWARDS_DO | WEBHOOKS
ELSEWHERE = {"round_captions", "chart"}  # lead to the page of a collection, of a round


@pytest.fixture
def site(db, lasting_site) -> Site:
    return lasting_site.again()


@pytest.fixture
def addresses(db, addresses_of_the_site) -> dict[str, str]:
    return addresses_of_the_site


def statuses(names: Iterable[str], visit: Callable[[str], HttpResponse]) -> dict[str, int]:
    """The status of each visit, all with the same rows: what one changes is rolled back before the next, and if it
    fails. (A generator that rolled back would be left where it waits, and the test's own transaction open.)"""
    found = {}
    for name in names:
        block = transaction.atomic()
        block._from_testcase = True  # code under test still has to open a transaction of its own
        with block:
            found[name] = visit(name).status_code
            transaction.set_rollback(True)
    return found


def test_a_visit_that_fails_leaves_no_rows_to_later_tests(db):
    def fail(name: str) -> HttpResponse:
        Job.objects.create(title=name, task="none")
        raise LookupError(name)

    before = list(connection.savepoint_ids)
    with pytest.raises(LookupError):
        statuses(["job"], fail)
    assert connection.savepoint_ids == before
    assert not Job.objects.filter(title="job").exists()


def test_a_stranger_is_sent_to_the_login(stranger):
    for name in GUARDED:
        for answer in (stranger.get(address(name)), stranger.post(address(name))):
            assert (name, answer.status_code) == (name, 302)
            assert (name, answer.url[:7]) == (name, "/login/")


def test_a_member_without_a_role_may_look(member, addresses):
    Round.objects.update(closed_at=timezone.now())  # of others, test_secret_controls
    pages = [name for name in GUARDED if name not in ACTS | MEMBERS_DO]
    answers = statuses(pages, lambda name: member.get(addresses[name]))
    odd = {name: status for name, status in answers.items() if status != (302 if name in ELSEWHERE else 200)}
    assert odd == {}, (
        f"add a page that not everybody may open to the set of those who may, such as ADMINS_DO in {__file__}"
    )


def test_a_member_without_a_role_may_change_nothing(member):
    for name in sorted(ACTS):
        answer = member.post(address(name))
        assert (name, answer.status_code) == (name, 403)
        assert "You do not have permission" in answer.content.decode()


def test_a_member_without_a_role_sends_no_form_but_for_their_tokens_and_password(member, addresses):
    """So they start no job either, at whatever address."""
    Round.objects.update(closed_at=timezone.now())
    answers = statuses(sorted(GUARDED), lambda name: member.post(addresses[name]))
    assert {name for name, status in answers.items() if status not in (403, 405)} == MEMBERS_DO | {"password", "tokens"}


def test_a_researcher_neither_decides_nor_releases(researcher):
    allowed = [name for name in REVIEWERS_DO | ADMINS_DO if researcher.post(address(name)).status_code != 403]
    assert allowed == []


def test_a_reviewer_neither_launches_nor_releases(reviewer):
    allowed = [name for name in RESEARCHERS_DO | ADMINS_DO if reviewer.post(address(name)).status_code != 403]
    assert allowed == []


def test_researchers_and_reviewers_look_after_workers(researcher, reviewer, addresses):
    for client in (researcher, reviewer):
        answers = statuses(sorted(STEWARDS_DO), lambda name, client=client: client.post(addresses[name]))
        assert [name for name, status in answers.items() if status == 403] == []


def test_whom_to_pay_and_who_works_here_is_shown_to_admins_only(member, researcher, reviewer, releaser, addresses):
    for name in ("payments_csv", "staff"):
        seen = [one.get(addresses[name]).status_code for one in (member, researcher, reviewer, releaser)]
        assert seen == [403, 403, 403, 200], name


def test_an_admin_is_kept_from_nothing(releaser, addresses):
    answers = statuses(sorted(ACTS), lambda name: releaser.post(addresses[name]))
    assert [name for name, status in answers.items() if status == 403] == []


def test_what_changes_something_is_not_done_by_a_link(releaser):
    of_rounds = ("round_sync", "audit_start", "round_calls_send", "call_settle")
    of_people = ("assignment_decide", "assignment_undo", "person_link")
    for name in ("job_cancel", *of_rounds, *of_people):
        assert releaser.get(address(name)).status_code == 405, name


def test_a_forged_form_is_refused(reviewer, site):
    reviewer.handler.enforce_csrf_checks = True
    answer = reviewer.post(
        reverse("assignment_decide", args=[site.flagged.pk]), {"decision": "exclude", "reason": "forged"}
    )
    assert answer.status_code == 403
    assert "This form has expired" in answer.content.decode()
    assert not Decision.objects.filter(assignment=site.flagged).exists()
    assert Assignment.objects.get(pk=site.flagged.pk).state == "flagged"


def test_pages_show_only_the_buttons_that_may_be_pressed(member, researcher, site):
    url = reverse("round", args=["draft"])
    assert "Publish" not in member.get(url).content.decode()
    assert "Publish 1 HIT for $0.65" in researcher.get(url).content.decode()
    for page, acts in {"version_files": {"version_verify", "version_export", "version_measure"}}.items():
        for client, is_shown in ((member, False), (researcher, True)):
            shown = client.get(reverse(page, args=["v1"])).text
            assert {reverse(act, args=["v1"]) in shown for act in acts} == {is_shown}


def test_what_is_not_there_gets_a_page_that_says_so(member, site):
    named = [f"/{things}/none/" for things in ("collections", "annotators", "pools", "rounds", "workers")]
    for path in (*named, "/rounds/open/hits/99/", "/review/99/"):
        answer = member.get(path)
        assert (answer.status_code, "Page not found" in answer.text) == (404, True), path


def test_what_no_form_of_ours_sends_gets_a_page_that_says_so(stranger, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 2
    answer = stranger.post("/login/", {str(number): "x" for number in range(9)})
    assert answer.status_code == 400
    assert "Bad request" in answer.content.decode()


def test_the_page_for_our_own_faults_needs_nothing_to_render():
    assert "Something went wrong" in get_template("500.html").render()
