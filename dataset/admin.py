"""Aggregations, verdicts, reviews, the reviewers' queue and versions, read-only."""

from core.admin import list_rows
from dataset.models import Aggregation, Case, Publication, Review, Verdict, Version

list_rows(Aggregation, "id round method ties judgments at", list_filter=["round", "method"])
list_rows(
    Verdict,
    "id aggregation image caption level confidence votes",
    exclude=["probability"],  # not for every pair may it be shown
    list_filter=["aggregation__round", "aggregation__method", "level"],
    list_select_related=["aggregation__round", "image", "caption"],
)
list_rows(
    Review,
    "id collection image caption conclusion level grounds by at seconded_by",
    list_filter=["collection", "conclusion", "grounds"],
)
list_rows(Case, "id collection image caption reasons priority opened_at done_at", list_filter=["collection"])
list_rows(Version, "name collection sample released_at released_by")
list_rows(Publication, "version picture_terms published_at published_by")
