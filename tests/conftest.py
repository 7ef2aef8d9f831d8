"""Fixtures of all tests: storage of their own, quick settings, and people in each role."""

import gc
import os
import shutil
import ssl
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import time

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.core.management.commands import flush
from django.core.signing import TimestampSigner, b62_encode
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import override_settings
from hypothesis import settings as hypothesis_settings
from werkzeug.routing import Rule

from config.celery import app
from core.work import jobs
from counterpart_emulators import server
from crowd import channels
from tests.browser import browsers, chromium, in_time, open_page, page, phone, whole_chromium
from tests.crowd.fakes import FakePlatform
from tests.databases import runs_on_postgresql
from tests.redis_keys import own_keys
from tests.transactions import no_work_in_transactions, own_transactions, taken_back

__all__ = ["browsers", "chromium", "in_time", "open_page", "page", "phone", "whole_chromium"]

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"

MADE_BY_MIGRATING = (ContentType, Permission, Group, Group.permissions.through)

# The same examples in every run, and none judged by its time: a failure is of the code, not of the draw or the machine.
hypothesis_settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis_settings.load_profile("repeatable")

# Begun first, so that no process has one left while the other has none.
LONGEST = (
    "tests/console/api/test_any_call.py",
    "tests/project/test_readme.py",
    "tests/demo/test_walkthrough.py",
)


def pytest_configure():
    if settings.REDIS_URL:
        own_keys()


def pytest_collection_modifyitems(config, items):
    """Run a browser's failed test once more, and the longest files first."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))
    if connection.vendor == "sqlite":
        return
    left_out = [item for item in items if not runs_on_postgresql(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if runs_on_postgresql(item)]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings, tmp_path_factory):
    """Keep SQLite's test database in a file: in memory, the threads of a live server share one connection, and two
    requests at once trip over each other's statements. No test cuts the power, so nothing waits for the disk."""
    if connection.vendor == "sqlite":
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / f"{worker}.sqlite3")
        options = connection.settings_dict["OPTIONS"]
        options["init_command"] = options["init_command"].replace("synchronous=FULL", "synchronous=OFF")


@pytest.fixture(scope="session")
def migrated(request) -> Path:
    """Where an earlier run has left an empty SQLite database of these migrations, if one has."""
    digest = sha256()
    for path in sorted(Path(settings.BASE_DIR).glob("*/migrations/*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return request.config.cache.mkdir("databases") / f"{digest.hexdigest()[:16]}.sqlite3"


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings, migrated) -> bool:
    """Begin with that database: to migrate an empty one takes longer than most files of tests."""
    if connection.vendor == "sqlite" and migrated.exists():
        shutil.copy(migrated, connection.settings_dict["TEST"]["NAME"])
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker, migrated) -> Iterator[None]:
    if connection.vendor == "postgresql":
        connection.ops.sql_flush = delete_all
    elif not migrated.exists():
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [f"{migrated}.{os.getpid()}"])
        os.replace(f"{migrated}.{os.getpid()}", migrated)
    with django_db_blocker.unblock():
        made = {model: list(model.objects.all()) for model in MADE_BY_MIGRATING}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flush, "emit_post_migrate_signal", lambda *_: write_again(made))
        yield


def write_again(made: dict[type[Model], list[Model]]) -> None:
    """Write what migrating made, once a test has emptied the tables. Django would work it out again, by 110
    statements."""
    for model, rows in made.items():
        model.objects.bulk_create(rows)


def delete_all(style, tables, **_) -> list[str]:
    """Empty the tables for the next test by DELETE: TRUNCATE makes each file anew, which takes seconds on a disk."""
    return [f"DELETE FROM {connection.ops.quote_name(table)}" for table in tables]


@pytest.fixture(scope="session", autouse=True)
def transactions():
    with own_transactions(), no_work_in_transactions():
        yield


@pytest.fixture(scope="session", autouse=True)
def known_tasks():
    """A task that is sent by name runs at once only where its module was imported."""
    app.loader.import_default_modules()
    with override_settings(CELERY_TASK_ALWAYS_EAGER=True):
        yield


def stored_in(folder: Path) -> dict[str, Path]:
    """The settings by which all files lie in the folder."""
    return {"VAR_DIR": folder, "MEDIA_ROOT": folder / "media", "FILE_CACHE": folder / "cache"}


@pytest.fixture(scope="module")
def lasting(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[Path]:
    """A transaction and a folder for rows and files that a fixture makes once for all tests of its module. What a test
    with ``db`` changes of them is taken back after it. Not for modules in which a test commits."""
    folder = tmp_path_factory.mktemp("lasting")
    with django_db_blocker.unblock(), override_settings(**stored_in(folder)), taken_back():
        yield folder


@pytest.fixture(autouse=True)
def own_storage(request, settings, tmp_path):
    """Pictures, stored files and unfinished work of one test stay in its own folder, beside copies of the files that
    last for its module."""
    if "lasting" in request.fixturenames:
        shutil.copytree(request.getfixturevalue("lasting"), tmp_path, dirs_exist_ok=True)
    for name, path in stored_in(tmp_path).items():
        setattr(settings, name, path)


@pytest.fixture(scope="session", autouse=True)
def quick(known_tasks):
    """Leave out what would take most of the time: hashing that is slow on purpose, a search for all static files,
    reading the pairs before they are judged, and looking through all modules for what is no longer used."""
    gc.freeze()
    gc.set_threshold(20_000)
    hashers = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with override_settings(PASSWORD_HASHERS=hashers, WHITENOISE_AUTOREFRESH=True, LEAST_SECONDS_A_PAIR=0):
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_connections():
    """Stop an emulator at once, and start it without what writes addresses of its routes, which no test uses. Read
    the certificates once: httpx reads them for each client, of plain HTTP too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "POLL", 0.005)
        patch.setattr(Rule, "_compile_builder", lambda *_: lambda *_: None)
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(autouse=True)
def links_of_one_second(monkeypatch):
    """A signed link holds the second in which it was made: two of the same thing are equal within a test."""
    second = b62_encode(int(time()))
    monkeypatch.setattr(TimestampSigner, "timestamp", lambda signer: second)


@pytest.fixture(scope="session", autouse=True)
def fresh_figures():
    """On a busy machine a page may take long enough for its figures to be kept for the next test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("console.kept_figures.SLOW", float("inf"))
        yield


@pytest.fixture(scope="session", autouse=True)
def progress_in_the_tests_transaction():
    """No other connection sees the jobs of a test that is rolled back."""
    write_now = jobs._write_now

    def write(news):
        rolled_back = any(block._from_testcase for block in connection.atomic_blocks)
        return news() if rolled_back else write_now(news)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "_write_now", write)
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data; skips the test where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"no shared data at {SHARED}")
    return SHARED


def client_of(role: str | None) -> Client:
    """A browser logged in as a member of ``role``'s group; of no group at all for None."""
    user = User.objects.create_user(username=role or "member", password="a long passphrase")
    if role:
        user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def stranger(db) -> Client:
    """A visitor who is not logged in."""
    return Client()


@pytest.fixture
def member(db) -> Client:
    """A person with an account and no role."""
    return client_of(None)


@pytest.fixture
def researcher(db) -> Client:
    return client_of("researcher")


@pytest.fixture
def reviewer(db) -> Client:
    return client_of("reviewer")


@pytest.fixture
def releaser(db) -> Client:
    """An admin in the house's sense: may release versions."""
    return client_of("admin")


@pytest.fixture
def person(db) -> User:
    """A named member of the staff."""
    return User.objects.create_user(username="robin")


@pytest.fixture
def commit(django_capture_on_commit_callbacks):
    """Run what waits for the end of the transaction, as ``with commit(execute=True):`` ends."""
    return django_capture_on_commit_callbacks


@pytest.fixture
def platform(monkeypatch) -> FakePlatform:
    """A platform that moves money, in the place of MTurk: its fee is 20%."""
    fake = FakePlatform()
    monkeypatch.setitem(channels.CHANNELS, "mturk", fake)
    return fake
