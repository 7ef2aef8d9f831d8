"""Workers, their assignments and judgments, and payments, to look at."""

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from annotation.models import Assignment, Decision, Judgment, Payment, Worker, WorkerIdentity
from core.admin import ReadOnlyAdmin, list_rows

list_rows(Worker, "pseudonym consented_at created_at", search_fields=["pseudonym"])
list_rows(
    Assignment,
    "id hit hit__round worker state control_failures leased_at submitted_at",
    list_select_related=["hit__round", "worker"],
    list_filter=["state", "hit__round"],
    search_fields=["=id", "=receipt", "worker__pseudonym", "hit__round__name"],
)
list_rows(
    Decision,
    "assignment votes_count paid by at reason",
    list_filter=["votes_count", "paid", "by"],
    search_fields=["=assignment__id", "reason", "by__username"],
)
list_rows(
    Payment,
    "assignment assignment__worker round amount state created_at paid_at",
    list_select_related=["round", "assignment__worker"],
    list_filter=["state", "round"],
    search_fields=["=assignment__id", "assignment__worker__pseudonym", "round__name"],
)
list_rows(
    Judgment,
    "id worker image caption level shortcoming wrong_way at",
    list_filter=["level", "shortcoming", "assignment__state"],
)


@admin.register(WorkerIdentity)
class WorkerIdentityAdmin(ReadOnlyAdmin):
    """The one table that ties pseudonyms to people: for superusers' eyes only."""

    list_display = ("worker", "channel", "environment", "external_id")
    list_filter = ("channel", "environment")
    search_fields = ("worker__pseudonym", "external_id")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_module_permission(request)
