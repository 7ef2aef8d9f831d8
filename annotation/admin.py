"""Workers, their assignments and judgments, and payments, to look at."""

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from annotation.models import Assignment, Decision, Judgment, Payment, Worker, WorkerIdentity
from core.admin import ReadOnlyAdmin


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

    @admin.display(description="worker")
    def worker(self, payment: Payment) -> str:
        return payment.assignment.worker.pseudonym


@admin.register(Judgment)
class JudgmentAdmin(ReadOnlyAdmin):
    list_display = ["id", "worker", "image", "caption", "level", "shortcoming", "wrong_way", "at"]
    list_filter = ["level", "shortcoming", "assignment__state"]
    list_select_related = ["worker", "image", "caption"]
