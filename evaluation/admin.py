"""Admin pages of runs and their scores."""

from django.contrib import admin

from core.admin import list_rows
from evaluation.models import Run, Score


class ScoresInline(admin.TabularInline):
    model = Score
    readonly_fields = ["version", "metric", "direction", "value", "low", "high", "queries"]
    exclude = ["values_file", "values_sha256"]
    can_delete = False
    extra = 0


list_rows(Run, "model collection sha256 created_at", list_filter=["collection"], inlines=[ScoresInline])
