"""Admin pages of a collection's rows. Imports write them, so only a collection's description can be edited."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from core.admin import ReadOnlyAdmin
from corpus.models import Caption, Collection, Gallery, Image, Match, Sample


@admin.register(Collection)
class CollectionAdmin(ReadOnlyAdmin):
    list_display = ["name", "description", "created_at"]
    search_fields = ["name", "description"]
    readonly_fields = ["name", "sealed_sources", "created_at"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_change_permission(self, request, obj)


@admin.register(Image)
class ImageAdmin(ReadOnlyAdmin):
    list_display = ["key", "collection", "file_name", "split", "width", "height"]
    list_filter = ["collection", "split"]
    list_select_related = ["collection"]
    search_fields = ["=key", "file_name"]


@admin.register(Caption)
class CaptionAdmin(ReadOnlyAdmin):
    list_display = ["key", "collection", "image", "text"]
    list_filter = ["collection"]
    list_select_related = ["collection", "image"]
    search_fields = ["=key", "text"]


@admin.register(Match)
class MatchAdmin(ReadOnlyAdmin):
    list_display = ["source", "collection", "image", "caption", "score", "grade"]
    list_filter = ["collection", "grade"]
    list_select_related = ["collection", "image", "caption"]
    search_fields = ["=source", "=image__key", "=caption__key"]


@admin.register(Sample)
class SampleAdmin(ReadOnlyAdmin):
    list_display = ["name", "collection", "seed", "created_at"]
    list_filter = ["collection"]
    fields = ["name", "collection", "seed", "created_at"]


@admin.register(Gallery)
class GalleryAdmin(ReadOnlyAdmin):
    list_display = ["name", "collection", "n_images", "n_captions", "created_at"]
    list_filter = ["collection"]
    list_select_related = ["collection"]
    search_fields = ["name"]
