"""Admin pages of runs and their scores."""

from django.contrib import admin

from core.admin import ReadOnlyAdmin
from evaluation.models import Run, Score


class ScoresInline(admin.TabularInline):
    model = Score
    readonly_fields = ["metric", "direction", "value", "queries"]
    can_delete = False
    extra = 0


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ["model", "version", "sha256", "created_at"]
    list_filter = ["version"]
    list_select_related = ["version"]
    inlines = [ScoresInline]
