"""The base of admin pages for rows that only the application's own functions change."""

from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest

# Roles and passwords change on the page *People* and by commands, which record who did so.
admin.site.unregister((User, Group))


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
