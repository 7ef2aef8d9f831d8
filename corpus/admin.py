"""Admin pages of a collection's rows. Imports write them, so only a collection's description can be edited."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from core.admin import ReadOnlyAdmin, list_rows
from corpus.models import Caption, Collection, Gallery, Image, Match, Sample


@admin.register(Collection)
class CollectionAdmin(ReadOnlyAdmin):
    list_display = ("name", "description", "created_at")
    search_fields = ("name", "description")
    readonly_fields = ("name", "sealed_sources", "doubted_below", "created_at")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_change_permission(self, request, obj)


list_rows(
    Image,
    "key collection file_name split width height",
    list_filter=["collection", "split"],
    search_fields=["=key", "file_name"],
)
list_rows(Caption, "key collection image text", list_filter=["collection"], search_fields=["=key", "text"])
list_rows(
    Match,
    "source collection image caption score grade",
    list_filter=["collection", "grade"],
    search_fields=["=source", "=image__key", "=caption__key"],
)
shown = "name collection seed created_at"
list_rows(Sample, shown, list_filter=["collection"], fields=shown.split())
list_rows(
    Gallery,
    "name collection n_images n_captions created_at",
    list_filter=["collection"],
    search_fields=["name"],
)
