"""Rounds, HITs and seats, to look at."""

from core.admin import list_rows
from hits.models import HIT, Round, Seat

list_rows(
    Round,
    "name pool state channel environment reward ceiling published_at closed_at",
    list_filter=["channel", "environment"],
    search_fields=["name", "pool__name"],
)
list_rows(HIT, "number round", list_filter=["round"], search_fields=["=number", "round__name"])
list_rows(Seat, "hit number round state", list_filter=["state", "round"], search_fields=["=hit__number", "round__name"])
