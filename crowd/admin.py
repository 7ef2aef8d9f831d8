"""Calls to platforms: shown, and retried if they failed."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from core.admin import ReadOnlyAdmin
from core.text import counted
from crowd.calls.outbox import send_again
from crowd.models import Outbox


@admin.register(Outbox)
class OutboxAdmin(ReadOnlyAdmin):
    list_display = ("call", "subject", "channel", "environment", "state", "attempts", "due_at", "error")
    list_display_links = ("subject",)
    list_filter = ("state", "call", "channel")
    search_fields = ("subject", "error")
    actions = ("send_failed_again",)

    def has_send_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("crowd.change_outbox")

    @admin.action(description="Retry failed calls", permissions=["send"])
    def send_failed_again(self, request: HttpRequest, rows: QuerySet[Outbox]) -> None:
        sent = sum(send_again(row, actor=str(request.user)) for row in rows)
        self.message_user(
            request, f"{counted(sent, 'failed call is', 'failed calls are')} being retried.", messages.SUCCESS
        )
