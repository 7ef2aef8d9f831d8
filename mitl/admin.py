"""Annotators and their proposals, read-only except for deleting mistaken rows."""

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from mitl.models import Annotator, Pool, Proposal, Retrieval


class ReadMostly(admin.ModelAdmin):
    """Shows rows without adding or changing any."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Annotator)
class AnnotatorAdmin(ReadMostly):
    list_display = ["name", "kind", "options", "checksum", "created_at"]
    list_filter = ["kind"]
    search_fields = ["name"]


@admin.register(Retrieval)
class RetrievalAdmin(ReadMostly):
    list_display = [
        "id",
        "annotator",
        "collection",
        "sample",
        "depth",
        "engine",
        "cascade",
        "rerank",
        "seconds",
        "created_at",
    ]
    list_filter = ["annotator", "collection"]
    list_select_related = ["annotator", "collection", "sample", "cascade"]


@admin.register(Pool)
class PoolAdmin(ReadMostly):
    list_display = ["name", "collection", "sample", "top_k", "n_pairs", "n_proposals", "seed", "created_at"]
    list_filter = ["collection"]
    list_select_related = ["collection", "sample"]
    search_fields = ["name"]


@admin.register(Proposal)
class ProposalAdmin(ReadMostly):
    list_display = ["id", "pool", "annotator", "direction", "rank", "score", "image", "caption"]
    list_filter = ["pool", "annotator", "direction"]
    list_select_related = ["pool", "annotator", "image", "caption"]
    show_full_result_count = False
