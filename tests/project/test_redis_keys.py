"""Test processes share one Redis."""

import pytest
import redis
from django.core.cache import cache


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
