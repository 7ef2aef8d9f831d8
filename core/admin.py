"""Admin pages of rows that only the application's own functions change."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import ForeignKey, Model
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

    def get_list_select_related(self, request: HttpRequest) -> Any:
        """Read the rows that columns name with the list; nullable ones too, which Django leaves out by itself."""
        keys = {field.name for field in self.opts.fields if isinstance(field, ForeignKey)}
        return self.list_select_related or [name for name in self.list_display if name in keys]


def list_rows(model: type[Model], columns: str, **options: Any) -> None:
    """Add a page that lists the rows of a model with these columns; ``options`` are those of ``ModelAdmin``."""
    admin.site.register(model, ReadOnlyAdmin, list_display=columns.split(), **options)
