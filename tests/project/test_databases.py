"""The databases of tests: what is left out on PostgreSQL, and what one test leaves for the next."""

from pathlib import Path

import pytest
import redis
from django.core.cache import cache
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal

from tests.conftest import MADE_BY_MIGRATING
from tests.databases import BOTH, SQLITE_ALONE


@pytest.mark.parametrize("prefix", [*SQLITE_ALONE, *BOTH])
def test_every_path_that_is_left_out_names_tests(settings, prefix):
    place = Path(settings.BASE_DIR) / prefix
    assert list(place.parent.glob(f"{place.name}*")), "rename it in tests/databases.py too"


# What tests leave for the next one: an emptied database with what migrating made, as Django would make it again


@pytest.mark.django_db(transaction=True)
def test_after_a_test_that_empties_the_tables_types_permissions_and_groups_are_those_of_the_migrations():
    before = [list(model.objects.order_by("pk").values()) for model in MADE_BY_MIGRATING]
    assert all(before)
    call_command("flush", verbosity=0, interactive=False, reset_sequences=False)
    assert [list(model.objects.order_by("pk").values()) for model in MADE_BY_MIGRATING] == before
    emit_post_migrate_signal(verbosity=0, interactive=False, db="default")
    assert [list(model.objects.order_by("pk").values()) for model in MADE_BY_MIGRATING] == before


# Test processes share one Redis


@pytest.mark.service
def test_a_process_that_clears_its_cache_leaves_queues_and_the_caches_of_others(settings):
    if not settings.REDIS_URL:
        pytest.skip("needs Redis")
    server = redis.from_url(settings.REDIS_URL)
    queue, other = f"{settings.REDIS_PREFIX}retrieval", f"{settings.REDIS_PREFIX.replace(':', '-other:', 1)}:1:sync"
    server.mset({queue: "a message", other: "a lock"})
    cache.set("throttle", 3)
    try:
        cache.clear()
        assert cache.get("throttle") is None
        assert server.mget(queue, other) == [b"a message", b"a lock"]
    finally:
        server.delete(queue, other)
