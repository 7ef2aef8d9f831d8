"""Annotators, their searches, pools and proposals, to look at."""

from core.admin import list_rows
from mitl.models import Annotator, Pool, Proposal, Retrieval

list_rows(Annotator, "name kind options checksum created_at", list_filter=["kind"], search_fields=["name"])
list_rows(
    Retrieval,
    "id annotator collection sample depth engine cascade rerank seconds created_at",
    list_filter=["annotator", "collection"],
)
list_rows(
    Pool,
    "name collection sample top_k n_pairs n_proposals seed created_at",
    list_filter=["collection"],
    search_fields=["name"],
)
list_rows(
    Proposal,
    "id pool annotator direction rank score image caption",
    list_filter=["pool", "annotator", "direction"],
)
