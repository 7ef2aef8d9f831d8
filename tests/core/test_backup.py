"""Backups of a site in use, and what restoring them promises. On PostgreSQL they need its client programs."""

import shutil
import sqlite3
import time
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event as Flag
from threading import Thread

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from core.errors import CounterpartError
from core.files import archives
from core.files import backup as module
from core.files.archives import checked_manifest
from core.files.backup import back_up, restore
from core.files.stored_files import write_file
from core.models import Event
from corpus.models import Collection, Image
from mitl.models import ChatPurse, ChatRequest
from tests.factories import make_collection


@pytest.fixture
def site(transactional_db, tmp_path) -> Path:
    """A site with a collection and a stored file; returns the path of a backup of it."""
    if connection.vendor == "postgresql" and not shutil.which("pg_dump"):
        pytest.skip("PostgreSQL's client programs are not installed")
    make_collection("zoo", images=2)
    write_file("images/zoo/one.jpg", b"one")
    try:
        back_up(tmp_path / "backup.tar")
    except CounterpartError as error:
        if "server version" not in str(error):
            raise
        pytest.skip(str(error))
    return tmp_path / "backup.tar"


def change_everything() -> None:
    Collection.objects.update(description="changed")
    write_file("images/zoo/one.jpg", b"changed")
    write_file("images/zoo/new.jpg", b"new")


def state() -> tuple[list, dict[str, bytes]]:
    """All collections, and all stored files with their content."""
    rows = list(Collection.objects.values_list("name", "description"))
    stored = Path(default_storage.location)
    return rows, {str(path.relative_to(stored)): path.read_bytes() for path in stored.rglob("*") if path.is_file()}


BEFORE = [("zoo", "")], {"images/zoo/one.jpg": b"one"}


@contextmanager
def people_at_work(zoo: Collection):
    """Meanwhile, a thread stores files, and in one transaction for each a row that names it and an event."""
    stop, acknowledged = Flag(), []

    def work() -> None:
        while not stop.is_set():
            number = len(acknowledged)
            stored = write_file(f"images/zoo/{number}.jpg", b"%d" % number)
            with transaction.atomic():
                Image.objects.create(collection=zoo, key=f"new-{number}", file_name="x.jpg", file=stored.path)
                Event.objects.create(actor="thread", verb="stored", subject="x")
            acknowledged.append(number)
        connection.close()

    worker = Thread(target=work)
    worker.start()
    try:
        yield acknowledged
    finally:
        stop.set()
        worker.join()


def test_a_backup_of_a_site_in_use_loses_no_acknowledged_work_and_tears_none(site, tmp_path):
    zoo = Collection.objects.get()
    images = Image.objects.filter(key__startswith="new-")
    with people_at_work(zoo) as acknowledged:
        for number in range(3):
            began = time.monotonic()
            while len(acknowledged) < 20 * (number + 1):
                assert time.monotonic() < began + 60
                time.sleep(0.001)
            before = len(acknowledged)
            back_up(tmp_path / f"busy-{number}.tar")
    restore(tmp_path / "busy-2.tar", replace=True)
    assert before <= images.count() < len(acknowledged) + 1
    assert images.count() == Event.objects.filter(actor="thread").count()
    for image in images:
        assert default_storage.open(image.file).read() == image.key.removeprefix("new-").encode()


def test_everything_comes_back_by_the_commands(site, tmp_path, capsys):
    call_command("backup", str(tmp_path / "two.tar"))
    assert "stored files: 1" in capsys.readouterr().out
    change_everything()
    call_command("restore", str(tmp_path / "two.tar"), "--replace", "--yes")
    assert state() == BEFORE


@contextmanager
def unchanged():
    """Nothing of the changed site is lost or replaced in the block."""
    change_everything()
    changed = state()
    yield
    assert state() == changed


def test_a_site_with_rows_or_files_is_not_overwritten_by_mistake_and_an_empty_one_needs_no_permission(site):
    with unchanged(), pytest.raises(CounterpartError, match="Pass --replace"):
        restore(site, replace=False)
    Collection.objects.all().delete()
    with pytest.raises(CounterpartError, match="There are files in"):
        restore(site, replace=False)
    shutil.rmtree(default_storage.location)
    restore(site, replace=False)
    assert state() == BEFORE


def test_a_damaged_backup_changes_nothing(site):
    content = bytearray(site.read_bytes())
    content[2_000] ^= 1
    site.write_bytes(content)
    with unchanged(), pytest.raises(CounterpartError, match=r"1 \(database\."):
        restore(site, replace=True)


def test_a_database_that_cannot_be_replaced_keeps_its_files(site, monkeypatch):
    def fail(path: Path) -> None:
        raise CounterpartError("The database is in use.")

    monkeypatch.setattr(module, "load_snapshot", fail)
    with unchanged(), pytest.raises(CounterpartError, match="in use"):
        restore(site, replace=True)


@pytest.mark.parametrize(
    ("owner", "name", "value", "reason"),
    [
        (connection, "vendor", "another", "this database is another"),
        (module, "software_version", lambda: "0.0.9", r"newer version, counterpart .*; this is 0\.0\.9"),
    ],
)
def test_a_backup_of_another_engine_or_a_newer_version_is_refused(site, monkeypatch, owner, name, value, reason):
    monkeypatch.setattr(owner, name, value)
    with pytest.raises(CounterpartError, match=reason):
        restore(site, replace=True)


@pytest.mark.parametrize(
    ("migration", "is_known", "reason"),
    [
        (("core", "9999_later"), False, r"newer version, .* without core\.9999_later"),
        (("annotation", "0019_reports_of_items"), True, r"before 0\.3\.1\. Restore it with 0\.3\.2"),
    ],
)
def test_a_backup_of_unknown_or_too_few_migrations_is_refused(site, tmp_path, migration, is_known, reason):
    recorder = MigrationRecorder(connection)
    add, remove = recorder.record_applied, recorder.record_unapplied
    change, change_back = (remove, add) if is_known else (add, remove)
    change(*migration)
    back_up(tmp_path / "other.tar")
    change_back(*migration)
    with pytest.raises(CounterpartError, match=reason):
        restore(tmp_path / "other.tar", replace=True)


def test_files_in_a_bucket_are_left_there(site, tmp_path, settings):
    settings.AWS_STORAGE_BUCKET_NAME = "pictures"
    assert back_up(tmp_path / "bucket.tar").stored_files == 0
    change_everything()
    restore(tmp_path / "bucket.tar", replace=True)
    assert state()[1].keys() == {"images/zoo/one.jpg", "images/zoo/new.jpg"}
    settings.AWS_STORAGE_BUCKET_NAME = ""
    with pytest.raises(CounterpartError, match="are in the bucket pictures"):
        restore(tmp_path / "bucket.tar", replace=True)


def test_the_restored_site_has_the_keys_that_signed_its_codes(site, tmp_path, settings):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", ["old", "oldest"]
    back_up(tmp_path / "keys.tar")
    restore(tmp_path / "keys.tar", replace=True)
    assert (tmp_path / "secret_key").read_text().split() == ["new", "old", "oldest"]
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_a_given_key_that_signed_no_code_is_refused(site, settings, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "another")
    settings.SECRET_KEY = "another"
    with unchanged(), pytest.raises(CounterpartError, match="other keys than SECRET_KEY"):
        restore(site, replace=True)


def test_answers_that_were_paid_for_come_back(site, tmp_path):
    ChatRequest.objects.create(purse=ChatPurse.objects.create(name="model"), question="q", cost=7)
    back_up(tmp_path / "paid.tar")
    ChatRequest.objects.all().delete()
    restore(tmp_path / "paid.tar", replace=True)
    assert ChatRequest.objects.get().cost == 7


def test_the_separate_ledger_of_older_backups_comes_back_for_migrate(site, tmp_path, monkeypatch):
    ledger = tmp_path / "chat.sqlite3"
    with closing(sqlite3.connect(ledger)) as open_ledger:
        open_ledger.execute("CREATE TABLE request (cost)")
        open_ledger.execute("INSERT INTO request VALUES (7)")
        open_ledger.commit()
    describe = archives.ArchiveWriter.describe

    def add_ledger(archive, description):
        archive.add("chat.sqlite3", ledger)
        describe(archive, description)

    monkeypatch.setattr(archives.ArchiveWriter, "describe", add_ledger)
    back_up(tmp_path / "older.tar")
    ledger.unlink()
    restore(tmp_path / "older.tar", replace=True)
    with closing(sqlite3.connect(ledger)) as open_ledger:
        assert open_ledger.execute("SELECT cost FROM request").fetchall() == [(7,)]


def test_a_file_that_is_being_written_is_left_out(site, tmp_path):
    (tmp_path / "media/images/zoo/.two.jpg.part").write_bytes(b"half")
    assert back_up(tmp_path / "again.tar").stored_files == 1
    assert not any(name.endswith(".part") for name in checked_manifest(tmp_path / "again.tar")["files"])


def test_a_file_that_is_deleted_meanwhile_does_not_stop_a_backup(site, tmp_path, monkeypatch):
    (tmp_path / "media/gone.npz").write_bytes(b"x")
    listed = list(module._files_in(tmp_path / "media"))
    (tmp_path / "media/gone.npz").unlink()
    monkeypatch.setattr(module, "_files_in", lambda media: iter(listed))
    back_up(tmp_path / "again.tar")
    assert "media/images/zoo/one.jpg" in checked_manifest(tmp_path / "again.tar")["files"]


def test_tables_of_a_newer_version_do_not_survive_an_older_backup(site):
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE later (image bigint REFERENCES corpus_image (id))")
    restore(site, replace=True)
    assert "later" not in connection.introspection.table_names()


def test_a_backup_among_the_stored_files_is_refused(db, settings):
    with pytest.raises(CounterpartError, match="among the stored files"):
        back_up(Path(settings.MEDIA_ROOT) / "backup.tar")


def test_missing_client_programs_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(connection, "vendor", "postgresql")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(CounterpartError, match="pg_dump is not installed"):
        archives.take_snapshot(tmp_path / "x")


def test_a_database_that_stays_locked_is_reported_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "PATIENCE", 0)
    paths = [tmp_path / "from", tmp_path / "to"]
    for path in paths:
        with closing(sqlite3.connect(path)) as made:
            made.execute("CREATE TABLE t (x)")
    with closing(sqlite3.connect(paths[1], isolation_level=None)) as busy:
        busy.execute("BEGIN EXCLUSIVE")
        with pytest.raises(CounterpartError, match="is in use. Stop the site"):
            archives.copy_sqlite(*paths)


def test_replacing_asks_first(site, monkeypatch):
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    with unchanged(), pytest.raises(CommandError, match=r"^Nothing was changed\. Answer y, or pass --yes\.$"):
        call_command("restore", str(site), "--replace")
    assert "All of it will be lost" in asked[0]
