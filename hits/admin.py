"""Rounds, HITs and seats, to look at."""

from django.contrib import admin

from core.admin import ReadOnlyAdmin
from hits.models import HIT, Round, Seat


@admin.register(Round)
class RoundAdmin(ReadOnlyAdmin):
    list_display = ("name", "pool", "state", "channel", "environment", "reward", "ceiling", "published_at", "closed_at")
    list_select_related = ("pool",)
    list_filter = ("channel", "environment")
    search_fields = ("name", "pool__name")


@admin.register(HIT)
class HITAdmin(ReadOnlyAdmin):
    list_display = ("number", "round")
    list_select_related = ("round",)
    list_filter = ("round",)
    search_fields = ("=number", "round__name")


@admin.register(Seat)
class SeatAdmin(ReadOnlyAdmin):
    list_display = ("hit", "number", "round", "state")
    list_select_related = ("hit", "round")
    list_filter = ("state", "round")
    search_fields = ("=hit__number", "round__name")
