"""Keys of their own in Redis for each test process. They share one server, and Django's ``cache.clear()`` would empty
it with the queues of the others."""

import os

from django.conf import settings
from django.core.cache.backends.redis import RedisCache


def own_keys() -> None:
    """Call this before the cache or the broker is used for the first time."""
    prefix = f"{settings.REDIS_PREFIX}{os.environ.get('PYTEST_XDIST_WORKER', 'main')}:"
    settings.REDIS_PREFIX = prefix
    settings.CACHES["default"]["KEY_PREFIX"] = prefix
    settings.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"] = prefix
    RedisCache.clear = delete_own


def delete_own(cache: RedisCache) -> None:
    client = cache._cache.get_client(write=True)
    for key in client.scan_iter(f"{cache.key_prefix}:*"):
        client.delete(key)
