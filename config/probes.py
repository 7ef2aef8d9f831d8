"""/healthz and /metrics, for machines: answered before hosts, redirects and logins, as probes come by any address.

As the outermost middleware it also counts and logs each request.
"""

import logging
import os
from collections.abc import Callable
from time import monotonic

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.registry import Collector

LASTS = 2  # seconds that an answer of /healthz is repeated, so that nobody keeps the database busy with it
METHODS = ("GET", "HEAD", "POST")
REQUESTS = Counter("counterpart_requests", "Requests answered.", ["method", "status"], registry=None)
SECONDS = Histogram("counterpart_request_seconds", "Time to an answer.", registry=None)
logger = logging.getLogger("requests")


def probes(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    from console.prometheus import Work  # once the apps are loaded
    from core import health

    checks = {"database": health.database_trouble, "broker": health.broker_trouble, "storage": health.storage_trouble}
    kept: tuple[float, dict[str, bool]] = (0.0, {})

    def healthz() -> HttpResponse:
        nonlocal kept
        if not kept[1] or monotonic() - kept[0] > LASTS:
            kept = (monotonic(), {name: not check() for name, check in checks.items()})
        return JsonResponse(kept[1], status=200 if all(kept[1].values()) else 503)

    def figures(request: HttpRequest) -> HttpResponse:
        if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"):
            return HttpResponse("Send METRICS_TOKEN as a bearer token.\n", status=401, content_type="text/plain")
        return HttpResponse(_as_text(Work()), content_type="text/plain; version=0.0.4; charset=utf-8")

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path == "/healthz":
            return healthz()
        if request.path == "/metrics" and settings.METRICS_TOKEN:
            return figures(request)
        began = monotonic()
        response = get_response(request)
        seconds = monotonic() - began
        REQUESTS.labels(request.method if request.method in METHODS else "other", response.status_code).inc()
        SECONDS.observe(seconds)
        told = {
            "method": request.method,
            "path": request.path,
            "status": response.status_code,
            "milliseconds": round(seconds * 1000),
        }
        logger.info("%s", " ".join(map(str, told.values())), extra={"fields": told})
        return response

    return answer


def _as_text(work: Collector) -> bytes:
    """Return the figures of requests and of the work in Prometheus's text format."""
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):  # set by config/gunicorn.py: the sum over all processes
        multiprocess.MultiProcessCollector(registry)
    else:
        registry.register(REQUESTS)
        registry.register(SECONDS)
    registry.register(work)
    return generate_latest(registry)
