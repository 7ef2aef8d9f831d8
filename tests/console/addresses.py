"""The address of each guarded page, for the rows of the small site of this folder."""

import pytest
from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse

from annotation.models import QualificationTest
from console import urls
from console.api.access_tokens import make_token
from console.charts.plots import measure_chart
from core.models import Job
from core.progress import silent
from crowd.models import Outbox
from dataset.exports.downloads import make_download
from evaluation.models import Run
from hits.models import Round
from integrations.webhooks import add_webhook
from tests.factories import make_round, put_on_platform

OPEN_TO_ALL = {
    *("login", "logout", "password_set", "password_forgotten"),
    *("result", "result_picture", "result_file", "signed_picture"),
    *("api_reference", "llms"),
}
WEBHOOKS = {"webhook", "webhook_secret", "webhook_act", "delivery_send"}
OF_PLATFORMS = {
    *("round_sync", "round_prolong", "audit_start", "audit_repair", "round_calls_send"),
}
GUARDED = {pattern.name: pattern for pattern in urls.urlpatterns if pattern.name not in OPEN_TO_ALL}
ANY = {"int": 1, "slug": "any", "path": "any", "str": "any", "uuid": "00000000-0000-0000-0000-000000000000"}


def address(name: str) -> str:
    """An address of this name for rows that need not exist: a page refuses a role before it looks for the row."""
    converters = GUARDED[name].pattern.converters
    kinds = {part: type(converter).__name__.removesuffix("Converter").lower() for part, converter in converters.items()}
    return reverse(name, kwargs={part: ANY["str" if kind == "string" else kind] for part, kind in kinds.items()})


@pytest.fixture(scope="module")
def addresses_of_the_site(lasting_site) -> dict[str, str]:
    """The address of each name for the rows of the site, and a round on a platform."""
    site = lasting_site
    put_on_platform(make_round(site.collection, "there"))
    done = Round.objects.get(name="done")
    measure_chart(done, "workers", "", progress=silent)
    image, worker = site.collection.images.first(), site.flagged.worker.pseudonym
    pair = [image.pk, site.collection.captions.last().pk]
    job = Job.objects.create(title="long work", task="none").pk
    call = Outbox.objects.create(channel="mturk", environment="emulator", call="publish", subject="x:1").pk
    run = Run.objects.create(collection=site.collection, model="overlap", sha256="0" * 64)
    run.scores.create(version=site.version, metric="R@1", direction="i2t", value=0.5, queries=8)
    tested = QualificationTest.objects.create(name="first", collection=site.collection, pass_mark=2, attempts=1, seed=0)
    sam = User.objects.create(username="sam")
    token, _ = make_token(sam, "a program", ["jobs:read"])
    webhook = add_webhook(sam, url="https://example.org/hook", types=["round.closed"])
    rows = [
        ("picture image", [image.pk]),
        ("caption", [site.collection.captions.first().pk]),
        ("pair pair_conclude reviews_undo", pair),
        ("review_second", [*pair, 1]),
        ("collection side_by_side matches matches_import samples sample test", ["zoo"]),
        ("leaderboard run_register queue clean_up two_reviewers", ["zoo"]),
        ("batch_undo", [site.collection.batches.create(name="zoo-1", kind="matches", source="cxc", counts={}).name]),
        ("rename", ["collection", "zoo"]),
        ("collection_ids", ["zoo", "images"]),
        ("sample_captions", [site.round.pool.sample.name]),
        ("test_items", [tested.name]),
        ("annotator annotator_origin annotator_describe training train", ["overlap"]),
        ("pool pool_pack", ["pool"]),
        ("pairs pairs_csv pairs_review", ["round", "open"]),
        ("round_publish round_rehearse round_discard rehearsals round_consent", ["draft"]),
        ("hit_preview", ["zoo", "levels", "usual"]),
        ("preview_picture", ["zoo", "levels", "usual", 1]),
        ("rehearsal_picture", ["draft", 1]),
        ("round round_live round_people round_results round_aggregate round_close", ["open"]),
        ("round_add round_again round_turn round_pause round_resume round_twice", ["open"]),
        ("round_idle round_judgments round_write round_captions round_top_up round_ceiling", ["open"]),
        ("round_pairs invitations invitations_csv round_money ledger_csv payments_mark payments_csv", ["open"]),
        ("hit invitation_revoke", ["open", 1]),
        ("control control_rule", ["open", site.round.controls.first().pk]),
        (" ".join(OF_PLATFORMS), ["there"]),
        ("call_settle", [call]),
        ("assignment assignment_decide assignment_undo", [site.flagged.pk]),
        ("assignment_bonus assignment_return", [site.flagged.pk]),
        ("rejection_second appeal_enter appeal_answer", [1]),
        ("submission_pay", [1]),
        ("worker worker_exclude worker_readmit worker_write worker_link worker_forget", [worker]),
        ("worker_assign worker_note", [worker]),
        ("worker_pause worker_resume", [worker, "open"]),
        ("version version_changes version_trust version_files version_export", ["v1"]),
        ("version_measure version_verify version_publish version_withdraw", ["v1"]),
        ("version_file", ["v1", "manifest.json"]),
        ("version_download", ["v1", make_download(site.version, "eccv-json_lenient").what]),
        ("run run_score", [run.pk]),
        ("benchmark", [Job.objects.create(title="Measure", task="console.tasks.measure_rankings").pk]),
        ("chart", ["round", "done", "workers"]),
        ("chart_measure", ["round", "done"]),
        ("chart_file", ["round", "done", "workers", "csv"]),
        ("job job_progress job_cancel import_look", [job]),
        ("person person_link", [sam.pk]),
        ("token_revoke", [token.pk]),
        ("webhook webhook_secret", [webhook.pk]),
        ("webhook_act", [webhook.pk, "test"]),
        ("delivery_send", [webhook.pk, 1]),
    ]
    arguments = {name: of_row for names, of_row in rows for name in names.split()}
    return {name: leading_to(name, arguments.get(name, [])) for name in GUARDED}


def leading_to(name: str, arguments: list) -> str:
    """The address with the arguments of a row."""
    try:
        return reverse(name, args=arguments)
    except NoReverseMatch:
        pytest.fail(
            f"add {name!r}, with the arguments of its address, to `rows` of addresses_of_the_site in {__file__}"
        )
