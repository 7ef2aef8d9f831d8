from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client, RequestFactory

from annotation.models import Payment, WorkerIdentity
from annotation.work.grading import accept
from annotation.work.leases import lease_seat
from annotation.work.submissions import mark_submitted
from crowd.calls.outbox import put
from crowd.models import Outbox, Posting
from tests.factories import make_round, make_worker

SANDBOX = {"channel": "mturk", "environment": "sandbox"}
LISTS = [
    *(f"corpus/{model}" for model in ("collection", "image", "caption", "match", "sample", "gallery")),
    *(f"mitl/{model}" for model in ("annotator", "retrieval", "pool", "proposal")),
    *("hits/round", "hits/hit", "hits/seat"),
    *("annotation/worker", "annotation/assignment", "annotation/decision", "annotation/payment"),
    *("annotation/workeridentity", "crowd/outbox"),
]


def client_with(*permissions: str, superuser: bool = False) -> Client:
    user = User.objects.create_user(username="clerk", is_staff=True)
    User.objects.filter(pk=user.pk).update(is_superuser=superuser)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def accepted_work(hits):
    made = make_round(hits=hits)
    for n in range(hits):
        worker = make_worker()
        WorkerIdentity.objects.create(worker=worker, channel="browser", external_id=f"id-{n}")
        assignment = lease_seat(made, worker=worker)
        mark_submitted(assignment, active_seconds=1)
        accept(assignment)


def test_every_list_takes_as_many_queries_for_many_rows_as_for_few(db, django_assert_max_num_queries):
    client = client_with(superuser=True)
    accepted_work(9)
    for model in LISTS:
        with django_assert_max_num_queries(6):
            assert client.get(f"/admin/{model}/", {"q": "1"}).status_code == 200


def test_no_account_role_or_password_and_no_row_but_a_description_is_changed_in_the_admin(db):
    client = client_with(superuser=True)
    request = RequestFactory().get("/admin/")
    request.user = User.objects.get()
    kinds = {model._meta.label: one.get_model_perms(request) for model, one in admin.site._registry.items()}
    shown = {"add": False, "change": False, "delete": False, "view": True}
    assert [label for label, allowed in kinds.items() if allowed != shown] == ["corpus.Collection"]  # its description
    assert not {"auth", "axes"} & {label.partition(".")[0] for label in kinds}
    assert client.get("/admin/password_change/").headers["Location"] == "/password/"


def test_only_superusers_see_who_a_worker_is(db):
    client = client_with("view_workeridentity", "view_worker")
    assert client.get("/admin/annotation/worker/").status_code == 200
    assert client.get("/admin/annotation/workeridentity/").status_code == 403


def test_a_payment_is_not_marked_as_paid_outside_its_list(db):
    """What a platform pays would be paid twice."""
    accepted_work(1)
    chosen = {"action": "mark_as_paid", "_selected_action": list(Payment.objects.values_list("pk", flat=True))}
    client_with(superuser=True).post("/admin/annotation/payment/", chosen)
    assert Payment.objects.get().state == Payment.State.OWED


def test_failed_calls_are_sent_again(db, platform, django_capture_on_commit_callbacks):
    hit = make_round().hits.get()
    posting = Posting.objects.create(round=hit.round, hit=hit, max_assignments=1, **SANDBOX)
    put(Outbox.Call.PUBLISH, posting, **SANDBOX)
    Outbox.objects.update(state=Outbox.State.FAILED)
    client = client_with(superuser=True)
    with django_capture_on_commit_callbacks(execute=True):
        keys = [str(key) for key in Outbox.objects.values_list("pk", flat=True)]
        client.post("/admin/crowd/outbox/", {"action": "send_failed_again", "_selected_action": keys})
    assert Outbox.objects.get().state == Outbox.State.DONE
