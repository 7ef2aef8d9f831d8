"""Verdicts and versions, to look at."""

from django.contrib import admin

from core.admin import ReadOnlyAdmin
from dataset.models import Verdict, Version


@admin.register(Verdict)
class VerdictAdmin(ReadOnlyAdmin):
    list_display = ["id", "round", "method", "image", "caption", "level", "confidence", "votes"]
    list_filter = ["round", "method", "level"]
    list_select_related = ["round", "image", "caption"]


@admin.register(Version)
class VersionAdmin(ReadOnlyAdmin):
    list_display = ["name", "collection", "sample", "released_at", "released_by"]
    list_select_related = ["collection", "sample", "released_by"]
