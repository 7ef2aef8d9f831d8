"""Annotators, their searches, pools and proposals, to look at."""

from django.contrib import admin

from core.admin import ReadOnlyAdmin
from mitl.models import Annotator, Pool, Proposal, Retrieval


@admin.register(Annotator)
class AnnotatorAdmin(ReadOnlyAdmin):
    list_display = ["name", "kind", "options", "checksum", "created_at"]
    list_filter = ["kind"]
    search_fields = ["name"]


@admin.register(Retrieval)
class RetrievalAdmin(ReadOnlyAdmin):
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
class PoolAdmin(ReadOnlyAdmin):
    list_display = ["name", "collection", "sample", "top_k", "n_pairs", "n_proposals", "seed", "created_at"]
    list_filter = ["collection"]
    list_select_related = ["collection", "sample"]
    search_fields = ["name"]


@admin.register(Proposal)
class ProposalAdmin(ReadOnlyAdmin):
    list_display = ["id", "pool", "annotator", "direction", "rank", "score", "image", "caption"]
    list_filter = ["pool", "annotator", "direction"]
    list_select_related = ["pool", "annotator", "image", "caption"]
