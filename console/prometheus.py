"""Figures for Prometheus: the state of the work in the database."""

from collections.abc import Iterator, Mapping

from django.conf import settings
from django.db.models import Count, Q
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from annotation.models import Assignment
from core import clock
from core.health.heartbeat import last_beat, loads
from core.models import Job
from crowd.models import Outbox
from hits.models import Round


class Work(Collector):
    def collect(self) -> Iterator[GaugeMetricFamily]:
        counts = dict(Job.objects.order_by().values_list("state").annotate(Count("pk")))
        yield _by("counterpart_jobs", "Jobs.", "state", {state: counts.get(state, 0) for state in Job.State.values})
        yield from _queues()
        leased = Assignment.objects.filter(state=Assignment.State.LEASED).aggregate(
            running=Count("pk", filter=Q(deadline__gt=clock.now())),
            overdue=Count("pk", filter=Q(deadline__lte=clock.now())),
        )
        yield _by("counterpart_leases", "HITs that workers have, and leases to be ended.", "state", leased)
        waiting = Outbox.objects.exclude(state=Outbox.State.DONE)
        calls = dict(waiting.order_by().values_list("state").annotate(Count("pk")))
        states = [state for state in Outbox.State.values if state != Outbox.State.DONE]
        yield _by("counterpart_calls", "Calls to platforms.", "state", {state: calls.get(state, 0) for state in states})
        opened = Round.objects.filter(published_at__isnull=False, closed_at=None)
        yield GaugeMetricFamily("counterpart_open_rounds", "Rounds that are open.", value=opened.count())
        if last := last_beat():
            age = (clock.now() - last).total_seconds()
            yield GaugeMetricFamily("counterpart_queue_heartbeat_age_seconds", "Since the last heartbeat.", value=age)
        interval = settings.RECONCILE_SECONDS
        yield GaugeMetricFamily("counterpart_queue_heartbeat_interval_seconds", "Between heartbeats.", value=interval)


def _queues() -> Iterator[GaugeMetricFamily]:
    """Yield the jobs of each queue: autoscaling adds workers where they wait."""
    queues = loads()
    now = clock.now()
    waiting = {name: load.waiting for name, load in queues.items()}
    running = {name: load.running for name, load in queues.items()}
    ages = {name: (now - load.oldest).total_seconds() if load.oldest else 0 for name, load in queues.items()}
    yield _by("counterpart_queue_waiting", "Jobs that wait for a worker.", "queue", waiting)
    yield _by("counterpart_queue_running", "Jobs that a worker runs.", "queue", running)
    yield _by("counterpart_queue_oldest_seconds", "Since the first job that waits was opened.", "queue", ages)


def _by(name: str, text: str, label: str, counts: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for value, count in counts.items():
        family.add_metric([value], count)
    return family
