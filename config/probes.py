"""/livez, /readyz, /healthz and /metrics, for machines: answered before hosts, redirects and logins, as probes come by
any address.

As the outermost middleware it also counts and logs each request.
"""

import logging
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from time import monotonic

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.registry import Collector

from core.health.checks import ADDITIONAL, REQUIRED, is_well

LASTS = 2  # seconds that an answer is repeated, so that probes do not keep the database busy
PATIENCE = 2  # seconds that /readyz waits for the broker and the storage, which do not decide its answer
METHODS = ("GET", "HEAD", "POST")
REQUESTS = Counter("counterpart_requests", "Requests answered.", ["method", "status"], registry=None)
SECONDS = Histogram("counterpart_request_seconds", "Time to an answer.", registry=None)
logger = logging.getLogger("requests")
_threads = ThreadPoolExecutor(2, thread_name_prefix="probe")


class Health:
    """Whether this process runs (/livez), can serve pages (/readyz), and has all that it needs (/healthz)."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[float, dict[str, bool]]] = {}

    def livez(self) -> HttpResponse:
        return JsonResponse({"process": True})

    def readyz(self) -> HttpResponse:
        found = self._known("/readyz", lambda: _in_turn(REQUIRED) | _in_time(ADDITIONAL))
        return JsonResponse(found, status=200 if all(found[name] for name in REQUIRED) else 503)

    def healthz(self) -> HttpResponse:
        found = self._known("/healthz", lambda: _in_turn(REQUIRED | ADDITIONAL))
        return JsonResponse(found, status=200 if all(found.values()) else 503)

    def _known(self, path: str, find: Callable[[], dict[str, bool]]) -> dict[str, bool]:
        if path not in self._kept or monotonic() - self._kept[path][0] > LASTS:
            self._kept[path] = (monotonic(), find())
        return self._kept[path][1]


def probes(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    from console.prometheus import Work  # once the apps are loaded

    health = Health()
    pages = {"/livez": health.livez, "/readyz": health.readyz, "/healthz": health.healthz}

    def figures(request: HttpRequest) -> HttpResponse:
        if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"):
            return HttpResponse("Send METRICS_TOKEN as a bearer token.\n", status=401, content_type="text/plain")
        return HttpResponse(_as_text(Work()), content_type="text/plain; version=0.0.4; charset=utf-8")

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path in pages:
            return pages[request.path]()
        if request.path == "/metrics" and settings.METRICS_TOKEN:
            return figures(request)
        began = monotonic()
        response = get_response(request)
        seconds = monotonic() - began
        REQUESTS.labels(request.method if request.method in METHODS else "other", response.status_code).inc()
        SECONDS.observe(seconds)
        fields = {
            "method": request.method,
            "path": request.path,
            "status": response.status_code,
            "milliseconds": round(seconds * 1000),
        }
        logger.info("%s", " ".join(map(str, fields.values())), extra={"fields": fields})
        return response

    return answer


def _in_turn(checks: Mapping[str, str]) -> dict[str, bool]:
    return {name: is_well(check) for name, check in checks.items()}


def _in_time(checks: Mapping[str, str]) -> dict[str, bool]:
    """Make checks that do not touch the database side by side; one that has no answer in time has failed."""
    asked = {name: _threads.submit(is_well, check) for name, check in checks.items()}
    wait(asked.values(), timeout=PATIENCE)
    for answer in asked.values():
        answer.cancel()  # behind an earlier one that hangs
    return {name: answer.done() and not answer.cancelled() and answer.result() for name, answer in asked.items()}


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
