import zipfile

import pytest
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from core.files.stored_files import local_copy
from core.work.jobs import Cancelled
from dataset.exports import export_version
from dataset.exports.downloads import choices, downloads_of, make_download
from tests.annotation.cast import answer
from tests.dataset.releasing import release
from tests.factories import make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def version():
    made = make_round(candidates=2)
    answer(made.hits.get(), 1, 4)
    return release(made)


def test_an_archive_holds_the_files_of_the_export(version, tmp_path):
    made = make_download(version, "parquet")
    out = tmp_path / "out"
    export_version(version, format="parquet", out=out)
    with zipfile.ZipFile(local_copy(made.stored)) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert held == {file.relative_to(out).as_posix(): file.read_bytes() for file in out.rglob("*") if file.is_file()}


@pytest.mark.slow
def test_made_again_every_archive_has_the_same_bytes(version):
    for what in choices():
        first = make_download(version, what)
        default_storage.delete(first.stored.path)
        assert make_download(version, what) == first


def test_an_archive_that_is_there_is_not_made_again_but_for_another_release_of_the_same_name(version, monkeypatch):
    made = make_download(version, "parquet")
    monkeypatch.setattr("dataset.exports.downloads.export_version", None)
    assert make_download(version, "parquet") == made
    assert downloads_of(version) == [made]
    version.manifest_sha256 = "0" * 64
    assert downloads_of(version) == []


def test_a_cancelled_export_leaves_nothing_behind(version):
    def cancelled(step, done, total):
        raise Cancelled

    with pytest.raises(Cancelled):
        make_download(version, "parquet", progress=cancelled)
    assert downloads_of(version) == []


def test_an_unknown_export_is_refused(version):
    with pytest.raises(CounterpartError, match="'xml': use eccv-json_lenient"):
        make_download(version, "xml")
