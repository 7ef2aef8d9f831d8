"""What is wrong with an installation: each finding in one line, with the line to change."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from socket import gethostname
from urllib.parse import urlsplit

import redis
from axes.models import AccessLog
from celery import current_app
from django.conf import settings
from django.core.checks import WARNING, run_checks
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import OperationalError, ProgrammingError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from annotation.people.consent import TELLS, untold
from console.people.login_lock import KNOWN_FOR
from core import health
from core.environment import is_local
from core.errors import some_of
from core.models import Heartbeat, Job
from core.queues import loads
from core.text import counted
from hits.models import Round

LEAST_FREE = 2 * 1024**3  # bytes
LARGEST_DRIFT = timedelta(seconds=5)
SERVE = "gunicorn --config config/gunicorn.py"
WORK = "celery -A config worker --beat"
GPU_TORCH = "pip uninstall torch && pip install -r requirements.txt, and install a driver for torch's CUDA"


@dataclass(frozen=True)
class Finding:
    """What a check found. ``change``: the line to change, or to run; empty if nothing is wrong."""

    check: str
    found: str
    change: str = ""


Findings = Iterator[Finding]


def examine() -> Iterator[Finding]:
    """Run every check. One that fails itself is a finding."""
    for check in (
        _settings,
        _https,
        _proxy,
        _addresses,
        _database,
        _migrations,
        _storage,
        _disk,
        _clock,
        _queue,
        _computers,
        _ray,
        _consent,
        _gpu,
    ):
        name = check.__name__.strip("_")
        try:
            yield from check(name)
        except (OperationalError, ProgrammingError):
            yield Finding(name, "not checked: the database cannot be used, or lacks migrations")
        except Exception as error:  # whatever a broken installation raises
            text = " ".join(str(error).split())[:200]
            yield Finding(name, f"{type(error).__name__}: {text}", "Correct that, then run doctor again.")


def _settings(name: str) -> Findings:
    """The system checks: key, hosts, DEBUG, private folders."""
    serious = [message for message in run_checks() if message.level >= WARNING]
    for message in serious:
        yield Finding(name, " ".join(message.msg.split()), message.hint or "See docs/operators.md.")
    if not serious:
        key = "SECRET_KEY" if os.environ.get("SECRET_KEY") else f"{settings.VAR_DIR}/secret_key"
        yield Finding(name, f"the key is in {key}; hosts {', '.join(settings.ALLOWED_HOSTS)}")


def _https(name: str) -> Findings:
    site = urlsplit(settings.SITE_URL)
    origin = "/".join(settings.SITE_URL.split("/")[:3])
    if is_local(settings.SITE_URL):
        yield Finding(name, f"{settings.SITE_URL} is on this computer")
    elif site.scheme != "https":
        yield Finding(
            name, f"Logins and worker links travel unencrypted to {site.netloc}.", f"SITE_URL=https://{site.netloc}"
        )
    elif not settings.BEHIND_TLS and origin not in settings.CSRF_TRUSTED_ORIGINS:
        yield Finding(name, "BEHIND_TLS is off, so forms that are sent by HTTPS are refused.", "BEHIND_TLS=true")
    else:
        yield Finding(name, f"{origin}; further trusted origins: {len(settings.CSRF_TRUSTED_ORIGINS)}")


def _proxy(name: str) -> Findings:
    """Ask for a page as visitors do, through the proxy."""
    if is_local(settings.SITE_URL):
        yield Finding(name, "not asked for: SITE_URL is on this computer")
        return
    url = f"{settings.SITE_URL}/login/"
    import httpx  # a fifth of a second, which other pages need not wait for

    try:
        answer = httpx.get(url, timeout=10)
    except httpx.HTTPError as error:
        yield Finding(name, f"{url} does not answer ({error}).", f"Start the site ({SERVE}), or correct SITE_URL.")
        return
    if answer.is_redirect and settings.BEHIND_TLS:
        found = "The proxy does not say that visitors come by HTTPS, so they are redirected without end."
        yield Finding(name, found, "nginx: proxy_set_header X-Forwarded-Proto $scheme;")
    elif answer.status_code == 400:
        yield Finding(name, "The proxy hands on another host than SITE_URL's.", "nginx: proxy_set_header Host $host;")
    elif answer.status_code != 200:
        yield Finding(name, f"{url} answers {answer.status_code}.", "Correct the proxy's address of the site.")
    else:
        yield Finding(name, f"{url} answers")


def _addresses(name: str) -> Findings:
    """Whether the addresses for which visits are counted are known, by the logins of late."""
    logins = AccessLog.objects.filter(attempt_time__gt=timezone.now() - KNOWN_FOR)
    if unknown := logins.filter(ip_address=None).count():
        came = counted(unknown, "login")
        found = f"{came} of {KNOWN_FOR.days} days came from no known address; such visitors share one limit."
        yield Finding(name, found, "PROXY_COUNT=<number of proxies before the site that extend X-Forwarded-For>")
    elif settings.PROXY_COUNT:
        proxies = counted(settings.PROXY_COUNT, "proxy", "proxies")
        yield Finding(name, f"{proxies} counted; with fewer than that before the site, visitors can invent addresses")
    else:
        yield Finding(name, "no proxy is counted; behind one, all visitors share its address")


def _database(name: str) -> Findings:
    if trouble := health.database_trouble():
        yield Finding(name, trouble, "DATABASE_URL=postgres://user:password@host/name")
    else:
        yield Finding(name, f"{connection.display_name} answers")


def _migrations(name: str) -> Findings:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        yield Finding(name, f"{len(missing)} migrations are not applied.", "python manage.py migrate")
    else:
        yield Finding(name, "all applied")


def _storage(name: str) -> Findings:
    """Write a file, read it and delete it."""
    path = f"doctor-{token_hex(8)}"
    content = token_hex(8).encode()
    if trouble := health.storage_trouble():
        yield Finding(name, trouble, "MEDIA_ROOT=<a folder that this user may write to>")
        return
    default_storage.save(path, ContentFile(content))
    with default_storage.open(path, "rb") as file:
        stored = file.read()
    default_storage.delete(path)
    where = settings.AWS_STORAGE_BUCKET_NAME or str(settings.MEDIA_ROOT)
    if stored != content:
        yield Finding(name, f"{where} gives back another file than was stored.", "Check the disk or the bucket.")
        return
    yield Finding(name, f"{where} can be written")
    folders = [settings.VAR_DIR, *([] if settings.AWS_STORAGE_BUCKET_NAME else [settings.MEDIA_ROOT])]
    for folder in {Path(one) for one in folders}:
        if folder.stat().st_mode & 0o077:
            yield Finding(name, f"Other users of this computer may enter {folder}.", f"chmod 700 {folder}")


def _disk(name: str) -> Findings:
    named = {"VAR_DIR": settings.VAR_DIR, "MEDIA_ROOT": settings.MEDIA_ROOT, "TMPDIR": tempfile.gettempdir()}
    for variable, folder in named.items():
        path = Path(str(folder))
        there = next(one for one in (path, *path.parents) if one.exists())
        free = shutil.disk_usage(there).free
        gigabytes = f"{free / 1024**3:.1f} GB"
        if free < LEAST_FREE:
            yield Finding(name, f"Only {gigabytes} are free for {folder}.", f"{variable}=<a folder on a larger disk>")
        else:
            yield Finding(name, f"{gigabytes} free for {variable}")


def _clock(name: str) -> Findings:
    """Compare this computer's clock with those of the servers, and with the newest job."""
    now = timezone.now()
    set_right = "timedatectl set-ntp true"
    others = {}
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            others["PostgreSQL"] = cursor.fetchone()[0]
    if settings.REDIS_URL:
        seconds, micro = redis.from_url(settings.REDIS_URL, socket_timeout=5).time()
        others["Redis"] = now.fromtimestamp(seconds + micro / 1e6, tz=now.tzinfo)
    wrong = {server: then for server, then in others.items() if abs(then - now) > LARGEST_DRIFT}
    newest_job = Job.objects.order_by("-created_at").values_list("created_at", flat=True).first()
    newest = max([at for at in (health.last_beat(), newest_job) if at], default=None)
    for server, then in wrong.items():
        yield Finding(name, f"{server}'s clock differs by {abs(then - now).total_seconds():.0f} s.", set_right)
    if newest and newest > now + LARGEST_DRIFT:
        yield Finding(name, f"A job or heartbeat is of {newest:%Y-%m-%d %H:%M:%S}, in the future.", set_right)
    elif not wrong:
        yield Finding(name, f"{now:%Y-%m-%d %H:%M:%S} UTC; compared with {', '.join(others) or 'the newest job'}")


def _queue(name: str) -> Findings:
    if trouble := health.broker_trouble():
        yield Finding(name, trouble, "REDIS_URL=redis://host:6379/0")
        return
    last = health.last_beat()
    when = f"last at {last:%Y-%m-%d %H:%M:%S} UTC" if last else "never"
    if not health.queue_has_stopped():
        yield Finding(name, f"worker and clock run; {when}")
    elif current_app.control.ping(timeout=2):
        yield Finding(name, f"A worker runs, but no scheduled task ({when}).", "celery -A config beat")
    else:
        yield Finding(name, f"No worker runs scheduled tasks ({when}).", WORK)
    yield from _unserved(name)


def _unserved(name: str) -> Findings:
    """Queues in which jobs wait and that no worker serves."""
    waiting = {queue: load.waiting for queue, load in loads().items() if load.waiting and not load.running}
    workers = (current_app.control.inspect(timeout=2).active_queues() or {}) if waiting else {}
    served = {queue["name"] for queues in workers.values() for queue in queues}
    for queue in waiting.keys() - served:
        found = f"No worker serves the queue {queue}, in which {counted(waiting[queue], 'job')} wait."
        yield Finding(name, found, f"celery -A config worker -Q {queue}")


def _computers(name: str) -> Findings:
    """What other computers would not see, though there seem to be some."""
    alone = _of_this_computer()
    other = Heartbeat.objects.filter(pk=Heartbeat.QUEUE).exclude(by__in=("", gethostname()[:100])).first()
    if not alone:
        yield Finding(name, "any number: tasks and rows are on servers")
    elif not other and is_local(settings.SITE_URL):
        yield Finding(name, f"this one alone: {' and '.join(alone)}")
    for what, change in alone.items():
        if other:
            yield Finding(name, f"{other.by} runs a worker too, but here {what}.", change)
        elif not is_local(settings.SITE_URL):
            yield Finding(name, f"The site is public, but {what}: no other computer could share it.", change)


def _of_this_computer() -> dict[str, str]:
    """Return what is kept in files of this computer, each with the setting that moves it to a server."""
    found = {}
    if not settings.REDIS_URL:
        found["tasks are files in VAR_DIR"] = "REDIS_URL=redis://host:6379/0"
    if connection.vendor == "sqlite":
        found["the database is a file"] = "DATABASE_URL=postgres://user:password@host/name"
    return found


def _consent(name: str) -> Findings:
    """What the consent sheet lacks while people work for money in the browser pool."""
    paid = Round.objects.filter(
        channel="browser", published_at__isnull=False, closed_at=None, rehearsal=False, reward__gt=0
    )
    lacking = {word: [str(round) for round in paid if word in untold(round)] for word in TELLS}
    if not paid:
        yield Finding(name, "no paid round is open in the browser pool")
    elif not any(lacking.values()):
        yield Finding(name, "the consent sheets name the researchers, the terms of payment and a contact")
    for word, rounds in lacking.items():
        if rounds:
            found = f"Workers of {some_of(rounds)} are not told {TELLS[word]}. Write it on the round's page, or set:"
            yield Finding(name, found, f'{word.upper()}="…"')


def _ray(name: str) -> Findings:
    from mitl.search.engines import on_ray  # with all kinds of annotators

    if not os.environ.get("RAY_ADDRESS"):
        yield Finding(name, "RAY_ADDRESS names no cluster")
    elif problem := on_ray.cluster_problem():
        yield Finding(name, problem, "RAY_AUTH_MODE=token, and pip install -r requirements-cluster.txt")
    else:
        yield Finding(name, f"the cluster at {os.environ['RAY_ADDRESS']} asks for a token")


def _gpu(name: str) -> Findings:
    import torch  # takes seconds

    if torch.cuda.is_available():
        yield Finding(name, f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    elif Path("/dev/nvidia0").exists():
        yield Finding(name, f"torch {torch.__version__} cannot use this computer's NVIDIA GPU.", GPU_TORCH)
    else:
        yield Finding(name, f"none; torch {torch.__version__} on the CPU")
