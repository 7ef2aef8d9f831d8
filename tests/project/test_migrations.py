"""Databases of 0.3.1 and later are upgraded; the first migrations replace all up to 0.3.1. Older ones are refused."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connections, models
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from annotation.models import Assignment
from crowd.models import Visit

OURS = ("annotation", "core", "corpus", "crowd", "dataset", "evaluation", "hits", "integrations", "mitl")
VALUES = {
    models.BooleanField: True,
    models.DateTimeField: timezone.now(),
    models.DecimalField: Decimal("0.05"),
    models.DurationField: timedelta(seconds=1),
    models.FloatField: 0.5,
    models.IntegerField: 1,
    models.JSONField: {"kept": True},
    models.CharField: "one",
    models.TextField: "one",
}
CONSTRAINED = {"dataset.Review": {"conclusion": "kept", "seconded_by_id": None}}


@pytest.fixture
def empty_database(tmp_path, monkeypatch, django_db_blocker):
    """The alias of a database file without tables."""
    monkeypatch.setitem(
        connections.databases, "upgraded", connections["default"].settings_dict | {"NAME": str(tmp_path / "upgraded")}
    )
    with django_db_blocker.unblock():
        yield "upgraded"
        connections["upgraded"].close()
        del connections["upgraded"]


def value_of(field: models.Field) -> object:
    """Return any value that a required field takes."""
    if field.choices:
        return field.flatchoices[0][0]
    return next((value for kind, value in VALUES.items() if isinstance(field, kind)), None)


def populate(state_apps, database: str) -> dict[str, int]:
    """Store one row of every model of ours, and return the key of each by the model's label."""
    waiting = [model for model in state_apps.get_models() if model._meta.app_label in OURS]
    keys: dict[str, object] = {"auth.User": store(state_apps.get_model("auth", "User"), {}, database)}
    while waiting:
        ready = [
            model
            for model in waiting
            if all(f.null or f.related_model._meta.label in keys for f in foreign_keys(model))
        ]
        assert ready, f"no order in which to store {waiting}"
        for model in ready:
            keys[model._meta.label] = store(model, keys, database)
        waiting = [model for model in waiting if model not in ready]
    return keys


def foreign_keys(model) -> list[models.ForeignKey]:
    return [field for field in model._meta.concrete_fields if field.is_relation]


def store(model, keys: dict, database: str) -> object:
    fields = {}
    for field in model._meta.concrete_fields:
        if field.is_relation:
            fields[field.attname] = keys.get(field.related_model._meta.label)
        elif not field.null and not field.has_default() and not field.primary_key:
            fields[field.name] = value_of(field)
    return model.objects.using(database).create(**fields | CONSTRAINED.get(model._meta.label, {})).pk


@pytest.mark.slow
def test_a_populated_database_of_0_3_1_is_upgraded_and_keeps_its_rows(empty_database):
    executor = MigrationExecutor(connections[empty_database])
    first = [node for node in executor.loader.graph.root_nodes() if node[0] in OURS]
    executor.migrate(first)
    keys = populate(executor.loader.project_state(first).apps, empty_database)
    # In 0.3.1 nothing was squashed: only the names of what was are recorded.
    MigrationRecorder(connections[empty_database]).migration_qs.filter(name__contains="_squashed_").delete()
    call_command("migrate", database=empty_database, verbosity=0)
    lost = [
        label
        for label, key in keys.items()
        if not apps.get_model(label)._base_manager.using(empty_database).filter(pk=key).exists()
    ]
    assert lost == []
    assert len(keys) > 25
    visit = Visit.objects.using(empty_database).get()
    ours = (visit.assignment_id, visit.posting_id, visit.worker_id)
    assert ours == tuple(keys[label] for label in ("annotation.Assignment", "crowd.Posting", "annotation.Worker"))
    assert (visit.channel, visit.external_id) == ("one", "one")
    assert Assignment.objects.using(empty_database).get().outside_key == "one"


def test_a_database_before_0_3_1_is_refused_unchanged(empty_database):
    recorder = MigrationRecorder(connections[empty_database])
    recorder.record_applied("annotation", "0001_initial")
    with pytest.raises(CommandError, match=r"0\.3\.2"):
        call_command("migrate", database=empty_database, verbosity=0)
    assert connections[empty_database].introspection.table_names() == ["django_migrations"]
