"""The rows behind rounds, for looking; what changes them are acts, and few of those are offered here."""

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from hits.models import HIT, Assignment, Decision, Outbox, Payment, Round, Seat, Worker, WorkerIdentity
from hits.platforms.outbox import send_again
from hits.platforms.settling import mark_paid


class ReadOnlyAdmin(admin.ModelAdmin):
    """Rows that only acts change. ``show_full_result_count`` off: counting all rows of long tables is slow."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Round)
class RoundAdmin(ReadOnlyAdmin):
    list_display = ("name", "pool", "state", "channel", "environment", "reward", "ceiling", "published_at", "closed_at")
    list_select_related = ("pool",)
    list_filter = ("channel", "environment")
    search_fields = ("name", "pool__name")


@admin.register(HIT)
class HITAdmin(ReadOnlyAdmin):
    list_display = ("number", "round")
    list_select_related = ("round",)
    list_filter = ("round",)
    search_fields = ("=number", "round__name")


@admin.register(Seat)
class SeatAdmin(ReadOnlyAdmin):
    list_display = ("hit", "number", "round", "state")
    list_select_related = ("hit__round",)
    list_filter = ("state", "hit__round")
    search_fields = ("=hit__number", "hit__round__name")

    @admin.display(description="round")
    def round(self, seat: Seat) -> str:
        return seat.hit.round.name


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ("pseudonym", "consented_at", "created_at")
    search_fields = ("pseudonym",)


@admin.register(WorkerIdentity)
class WorkerIdentityAdmin(ReadOnlyAdmin):
    """The one table that ties pseudonyms to people: for superusers' eyes only."""

    list_display = ("worker", "channel", "environment", "external_id")
    list_select_related = ("worker",)
    list_filter = ("channel", "environment")
    search_fields = ("worker__pseudonym", "external_id")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_module_permission(request)


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    list_display = ("id", "hit", "round", "worker", "state", "control_failures", "leased_at", "submitted_at")
    list_select_related = ("hit__round", "worker")
    list_filter = ("state", "hit__round")
    search_fields = ("=id", "=receipt", "worker__pseudonym", "hit__round__name")

    @admin.display(description="round")
    def round(self, assignment: Assignment) -> str:
        return assignment.hit.round.name


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = ("assignment", "votes_count", "paid", "by", "at", "reason")
    list_select_related = ("assignment", "by")
    list_filter = ("votes_count", "paid", "by")
    search_fields = ("=assignment__id", "reason", "by__username")


@admin.register(Payment)
class PaymentAdmin(ReadOnlyAdmin):
    list_display = ("assignment", "worker", "round", "amount", "state", "created_at", "paid_at")
    list_select_related = ("round", "assignment__worker")
    list_filter = ("state", "round")
    search_fields = ("=assignment__id", "assignment__worker__pseudonym", "round__name")
    actions = ("mark_as_paid",)

    @admin.display(description="worker")
    def worker(self, payment: Payment) -> str:
        return payment.assignment.worker.pseudonym

    def has_settle_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("hits.change_payment")

    @admin.action(description="Mark as paid outside", permissions=["settle"])
    def mark_as_paid(self, request: HttpRequest, payments: QuerySet[Payment]) -> None:
        marked = sum(mark_paid(payment, actor=str(request.user)) for payment in payments)
        self.message_user(request, f"{marked} payments are marked as paid.", messages.SUCCESS)


@admin.register(Outbox)
class OutboxAdmin(ReadOnlyAdmin):
    list_display = ("call", "subject", "channel", "environment", "state", "attempts", "due_at", "error")
    list_display_links = ("subject",)
    list_filter = ("state", "call", "channel")
    search_fields = ("subject", "error")
    actions = ("send_failed_again",)

    def has_send_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("hits.change_outbox")

    @admin.action(description="Send failed calls again", permissions=["send"])
    def send_failed_again(self, request: HttpRequest, rows: QuerySet[Outbox]) -> None:
        sent = sum(send_again(row, actor=str(request.user)) for row in rows)
        self.message_user(request, f"{sent} failed calls are being sent again.", messages.SUCCESS)
