"""Aggregations, verdicts and versions, read-only."""

from django.contrib import admin

from core.admin import ReadOnlyAdmin
from dataset.models import Aggregation, Verdict, Version


@admin.register(Aggregation)
class AggregationAdmin(ReadOnlyAdmin):
    list_display = ["id", "round", "method", "ties", "judgments", "at"]
    list_filter = ["round", "method"]
    list_select_related = ["round"]


@admin.register(Verdict)
class VerdictAdmin(ReadOnlyAdmin):
    list_display = ["id", "aggregation", "image", "caption", "level", "confidence", "votes"]
    list_filter = ["aggregation__round", "aggregation__method", "level"]
    list_select_related = ["aggregation__round", "image", "caption"]


@admin.register(Version)
class VersionAdmin(ReadOnlyAdmin):
    list_display = ["name", "collection", "sample", "released_at", "released_by"]
    list_select_related = ["collection", "sample", "released_by"]
