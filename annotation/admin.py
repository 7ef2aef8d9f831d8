"""Judgments, verdicts and versions to look at. They change only through the acts, so nothing here can be edited."""

from django.contrib import admin

from annotation.models import Judgment, Verdict, Version
from hits.admin import ReadOnlyAdmin


@admin.register(Judgment)
class JudgmentAdmin(ReadOnlyAdmin):
    list_display = ["id", "worker", "image", "caption", "level", "shortcoming", "wrong_way", "at"]
    list_filter = ["level", "shortcoming", "assignment__state"]
    list_select_related = ["worker", "image", "caption"]


@admin.register(Verdict)
class VerdictAdmin(ReadOnlyAdmin):
    list_display = ["id", "round", "method", "image", "caption", "level", "confidence", "votes"]
    list_filter = ["round", "method", "level"]
    list_select_related = ["round", "image", "caption"]


@admin.register(Version)
class VersionAdmin(ReadOnlyAdmin):
    list_display = ["name", "collection", "sample", "released_at", "released_by"]
    list_select_related = ["collection", "sample", "released_by"]
