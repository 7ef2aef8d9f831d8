"""Replace a platform id in every text that could hold it: reasons, errors, payloads, the journal."""

import json
import re
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db.models import CharField, Field, JSONField, Model, TextField
from django.db.models.functions import Cast

ERASED = "[erased]"
APPS = ("core", "hits", "annotation", "crowd")


def scrub(external_id: str) -> int:
    """Replace the id, wherever it stands as a word of its own, by ERASED. Returns in how many columns of rows.

    The journal is only added to, but for this: who wants to be forgotten comes first.
    """
    word = re.compile(rf"(?<![A-Za-z0-9]){re.escape(external_id)}(?![A-Za-z0-9])")
    return sum(_scrub(model, field, external_id, word) for model, field in _columns())


def _columns() -> Iterator[tuple[type[Model], Field]]:
    """Every column that free text or JSON stands in."""
    for app in APPS:
        for model in apps.get_app_config(app).get_models():
            for field in model._meta.concrete_fields:
                if isinstance(field, TextField | CharField | JSONField) and not (field.choices or field.primary_key):
                    yield model, field


def _scrub(model: type[Model], field: Field, external_id: str, word: re.Pattern[str]) -> int:
    rows = model._base_manager.annotate(_text=Cast(field.name, TextField())).filter(_text__contains=external_id)
    scrubbed = 0
    for key, value in list(rows.values_list("pk", field.name)):
        if (changed := _without(value, word)) != value:
            scrubbed += model._base_manager.filter(pk=key).update(**{field.name: changed})
    return scrubbed


def _without(value: Any, word: re.Pattern[str]) -> Any:
    return word.sub(ERASED, value) if isinstance(value, str) else json.loads(word.sub(ERASED, json.dumps(value)))
