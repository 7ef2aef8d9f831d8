"""/healthz and /metrics, for machines: answered before hosts, redirects and logins, as probes come by any address.

As the outermost middleware it also counts and logs each request.
"""

import logging
from collections.abc import Callable
from time import monotonic

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare

LASTS = 2  # seconds that an answer of /healthz is repeated, so that nobody keeps the database busy with it
logger = logging.getLogger("requests")


def probes(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    from console import prometheus
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
        return HttpResponse(prometheus.as_text(), content_type="text/plain; version=0.0.4; charset=utf-8")

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path == "/healthz":
            return healthz()
        if request.path == "/metrics" and settings.METRICS_TOKEN:
            return figures(request)
        began = monotonic()
        response = get_response(request)
        seconds = monotonic() - began
        prometheus.count_request(request.method or "", response.status_code, seconds)
        told = {
            "method": request.method,
            "path": request.path,
            "status": response.status_code,
            "milliseconds": round(seconds * 1000),
        }
        logger.info("%s", " ".join(map(str, told.values())), extra={"fields": told})
        return response

    return answer
