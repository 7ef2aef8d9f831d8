"""Databases of the first version are upgraded: migrations are added, never rewritten."""

from datetime import timedelta
from decimal import Decimal
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection, connections, models
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from annotation.models import Assignment, Decision, Report, Worker
from annotation.people.workers import worker_for
from corpus.models import Caption, Image
from crowd.models import Visit
from crowd.offers import offer_of
from dataset.reviews import undo
from hits.models import Item, Round
from tests.dataset.reviewing import exclude_caption, exclude_image
from tests.factories import make_assignment, make_round, make_worker

FIRST = "0001_initial"
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
    ours = {config.label for config in apps.get_app_configs()} & {label for label, _ in first_migrations()}
    waiting = [model for model in state_apps.get_models() if model._meta.app_label in ours]
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
    return model.objects.using(database).create(**fields).pk


def first_migrations() -> list[tuple[str, str]]:
    names = [config.label for config in apps.get_app_configs() if config.models_module and "." not in config.name]
    return [(label, FIRST) for label in names if label not in ("axes", "csp")]


@pytest.mark.slow
def test_a_populated_database_of_the_first_version_is_upgraded_and_keeps_its_rows(empty_database):
    executor = MigrationExecutor(connections[empty_database])
    executor.migrate(first_migrations())
    keys = populate(executor.loader.project_state(first_migrations()).apps, empty_database)
    executor = MigrationExecutor(connections[empty_database])
    executor.migrate(executor.loader.graph.leaf_nodes())
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


def test_an_offer_of_the_first_version_still_asks_for_top_workers(db):
    made = make_round()
    Round.objects.update(offer={"masters": True, "minutes": 30})
    import_module("crowd.migrations.0003_top_workers").rename_in_offers(apps, connection.schema_editor())
    made.refresh_from_db()
    assert (offer_of(made).top_workers, offer_of(made).minutes) == (True, 30)


def test_workers_of_the_channel_simulation_become_simulated_ones(db):
    simulated = worker_for(channel="simulation", external_id="round-1-0-0")
    worker_for(channel="browser", external_id="cookie")
    import_module("annotation.migrations.0005_simulated_workers").mark_simulated(apps, connection.schema_editor())
    assert list(Worker.objects.filter(simulated=True)) == [simulated]


def test_what_reviews_excluded_before_is_marked(db, person):
    made = make_round()
    kept, gone, *_ = made.pool.collection.images.all()
    caption = made.pool.collection.captions.last()
    undo([exclude_image(made.pool.collection, kept.pk, by=person)], by=person)
    exclude_image(made.pool.collection, gone.pk, by=person)
    exclude_caption(made.pool.collection, caption.pk, by=person)
    for model in (Image, Caption):
        model.objects.update(excluded_at=None)
    import_module("dataset.migrations.0007_mark_exclusions").mark_exclusions(apps, connection.schema_editor())
    assert list(Image.objects.exclude(excluded_at=None)) == [gone]
    assert list(Caption.objects.exclude(excluded_at=None)) == [caption]


def test_sessions_that_were_given_no_hit_are_marked(db):
    made = make_round(hits=3)
    marking = import_module("annotation.migrations.0016_sessions_without_hit")
    paid, asked, other = (
        Assignment.objects.create(
            hit=made.hits.all()[0],
            worker=worker_for(channel="prolific", environment="emulator", external_id=str(number)),
            state="excluded",
            deadline=timezone.now(),
            problem=problem,
        )
        for number, problem in enumerate(("", marking.ASKED, "something else"))
    )
    Decision.objects.create(assignment=paid, votes_count=False, paid=True, reason=marking.PAID)
    marking.mark_known(apps, connection.schema_editor())
    assert set(Assignment.objects.filter(has_hit=False)) == {paid, asked}
    assert Assignment.objects.get(has_hit=True) == other


def test_reports_of_pairs_and_of_pictures_become_reports_of_their_items(db):
    hit = make_round(hits=2).hits.last()
    first, second, *_ = hit.items.all()
    Item.objects.filter(pk=second.pk).update(caption=None)
    assignment = make_assignment(hit.seats.get())
    for item, other in ((first, second), (second, first)):
        said = {"assignment": assignment, "problem": "text", "worker": make_worker(), "item": other}
        Report.objects.create(**said, image=item.image, caption=item.caption if item == first else None)
    import_module("annotation.migrations.0019_reports_of_items").fill(apps, connection.schema_editor())
    assert [report.item for report in Report.objects.all()] == [first, second]


@pytest.mark.slow
def test_runs_on_versions_become_runs_of_collections_with_all_their_scores(empty_database):
    connection, before = connections[empty_database], [("evaluation", FIRST), ("dataset", FIRST), ("mitl", FIRST)]
    executor = MigrationExecutor(connection)
    executor.migrate(before)
    old = executor.loader.project_state(before).apps
    store_in = {"database": empty_database}
    zoo = store(old.get_model("corpus", "Collection"), {}, **store_in)
    sample = store(old.get_model("corpus", "Sample"), {"corpus.Collection": zoo}, **store_in)
    Version, Run, Score = (  # noqa: N806
        old.get_model(*name.split("."))._default_manager.using(empty_database)
        for name in ("dataset.Version", "evaluation.Run", "evaluation.Score")
    )
    for name in ("v1", "v2"):
        version = Version.create(name=name, collection_id=zoo, sample_id=sample, manifest={}, folder=name)
        for model in ("a", "b"):
            run = Run.create(version=version, model=model, sha256=model)
            Score.create(run=run, metric="R@1", direction="i2t", value=0.5, queries=3)
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes("evaluation"))
    runs = apps.get_model("evaluation", "Run").objects.using(empty_database).order_by("model")
    assert [(run.model, run.collection_id, run.scores.count()) for run in runs] == [("a", zoo, 2), ("b", zoo, 2)]
    assert sorted(runs[0].scores.values_list("version__name", flat=True)) == ["v1", "v2"]
