"""Aggregations, verdicts, reviews, the reviewers' queue and versions, read-only."""

from django.contrib import admin

from core.admin import ReadOnlyAdmin
from dataset.models import Aggregation, Case, Publication, Review, Verdict, Version


@admin.register(Aggregation)
class AggregationAdmin(ReadOnlyAdmin):
    list_display = ["id", "round", "method", "ties", "judgments", "at"]
    list_filter = ["round", "method"]
    list_select_related = ["round"]


@admin.register(Verdict)
class VerdictAdmin(ReadOnlyAdmin):
    list_display = ["id", "aggregation", "image", "caption", "level", "confidence", "votes"]
    exclude = ["probability"]  # not for every pair may it be shown
    list_filter = ["aggregation__round", "aggregation__method", "level"]
    list_select_related = ["aggregation__round", "image", "caption"]


@admin.register(Review)
class ReviewAdmin(ReadOnlyAdmin):
    list_display = ["id", "collection", "image", "caption", "conclusion", "level", "grounds", "by", "at", "seconded_by"]
    list_filter = ["collection", "conclusion", "grounds"]
    list_select_related = ["collection", "image", "caption", "by", "seconded_by"]


@admin.register(Case)
class CaseAdmin(ReadOnlyAdmin):
    list_display = ["id", "collection", "image", "caption", "reasons", "priority", "opened_at", "done_at"]
    list_filter = ["collection"]
    list_select_related = ["collection", "image", "caption"]


@admin.register(Version)
class VersionAdmin(ReadOnlyAdmin):
    list_display = ["name", "collection", "sample", "released_at", "released_by"]
    list_select_related = ["collection", "sample", "released_by"]


@admin.register(Publication)
class PublicationAdmin(ReadOnlyAdmin):
    list_display = ["version", "picture_terms", "published_at", "published_by"]
    list_select_related = ["version", "published_by"]
