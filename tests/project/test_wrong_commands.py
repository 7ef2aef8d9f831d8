"""Wrong commands, one a line in wrong_commands.txt: each ends with one clear line, and changes no row and no file.
The words behind => are in that line."""

import gzip
import hashlib
import json
import shlex
from collections import defaultdict
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from django.apps import apps
from django.core.management import get_commands, load_command_class
from django.test import override_settings

from corpus.models import Sample
from mitl.pooling import pool_proposals
from mitl.search.gallery import open_gallery
from mitl.search.request import Search
from mitl.search.retrieval import retrieve
from tests.conftest import stored_in
from tests.corpus.files import jsonl, line, written
from tests.dataset.releasing import release_version
from tests.factories import make_annotator, make_collection, make_round, make_sample
from tests.transactions import taken_back

pytestmark = pytest.mark.django_db

TABLE = Path(__file__).with_name("wrong_commands.txt")
FILES = TABLE.with_name("wrong_files.txt")
BY_COMMAND: dict[str, list[str]] = defaultdict(list)
for row in TABLE.read_text().splitlines():
    if not row.startswith("#"):
        BY_COMMAND[row.split()[0]].append(row)
LONGEST = 700  # characters of a line: some name all kinds of annotators


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory):
    """A folder of bad files, and rows that last for all tests of this module, in one transaction."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "var").mkdir(mode=0o700)
    with django_db_blocker.unblock(), override_settings(**stored_in(folder / "var")), taken_back():
        write_files(folder)
        write_rows()
        yield folder


@pytest.fixture(scope="module")
def before(world, django_db_blocker) -> str:
    with django_db_blocker.unblock():
        return digest(world)


@pytest.fixture(autouse=True)
def here(world, before, settings, monkeypatch):
    """Commands run in the folder, as if typed, with an empty input."""
    for name, path in stored_in(world / "var").items():
        setattr(settings, name, path)
    monkeypatch.chdir(world)
    monkeypatch.setattr("django.db.connections.close_all", lambda: None)  # or the transaction would end
    monkeypatch.setattr("django.core.management.base.BaseCommand.check_migrations", lambda self: None)
    monkeypatch.setattr("django.core.management.base.BaseCommand.check", lambda self, **more: None)
    monkeypatch.setattr("builtins.input", lambda question: "")


def write_rows() -> None:
    zoo, _farm = make_collection(images=8, pictures=True), make_collection("farm", images=2)
    queries, words = make_sample(zoo), make_annotator("words")
    make_annotator("small", "vse")
    one = Sample.objects.create(name="one", collection=zoo, seed=0)
    one.images.set(zoo.images.all()[:1])
    retrieve(Search(open_gallery(zoo, queries), [words], depth=5))
    pool_proposals("top5", collection=zoo, annotators=[words], sample=queries, top_k=2, control_depth=5)
    make_round(zoo, "draft", published=False)
    make_round(zoo, "open")
    release_version("v1", collection=zoo, sample=queries, merge="original")


def write_files(folder: Path) -> None:
    for row in FILES.read_text().splitlines()[1:]:
        name, _, content = row.partition(" => ")
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if path.suffix == ".jsonl":
            jsonl(path, *json.loads(content))
        else:
            written(path, json.loads(content))
    good = jsonl(folder / "good.jsonl", line(1), line(2)).read_bytes()
    jsonl(folder / "long-text.jsonl", line(text="a" * 20_000))
    jsonl(folder / "long-id.jsonl", line(caption="a" * 121))
    contents = {
        "cut.jsonl": good[:-20],
        "latin.jsonl": good + "é".encode("latin-1"),
        "utf16.jsonl": good.decode().encode("utf-16"),
        "deep.jsonl": b"[" * 100_000,
        "long-line.jsonl.gz": gzip.compress(b'{"text": "' + b"a" * (2 << 20)),
        "cut.jsonl.gz": gzip.compress(good)[:-9],
        "damaged.jsonl.gz": gzip.compress(good)[:10] + b"x" * 30,
        "binary.csv": bytes(range(256)) * 20,
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    write_arrays(folder)


def write_arrays(folder: Path) -> None:
    parts = {
        "image_ids": np.arange(8), "images": np.eye(8), "caption_ids": np.arange(16), "captions": np.ones((16, 8)),
    }  # fmt: skip
    wrong = {
        "good": {},
        "nan": {"images": np.full((8, 8), np.nan)},
        "infinite": {"captions": np.full((16, 8), np.inf)},
        "widths": {"images": np.ones((8, 9))},
        "doubled": {"image_ids": np.zeros(8, int)},
        "counts": {"image_ids": np.arange(7)},
        "objects": {"images": np.array([[object()] * 8] * 8, dtype=object)},
        "texts": {"images": np.full((8, 8), "a")},
        "flat": {"images": np.ones(8)},
    }
    for name, changed in wrong.items():
        np.savez(folder / f"{name}.npz", **(parts | changed))
    np.savez(folder / "no-keys.npz", a=np.ones(3))
    (folder / "cut.npz").write_bytes((folder / "good.npz").read_bytes()[:300])
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (32, 10**9)})
    with ZipFile(folder / "huge.npz", "w") as archive:
        for part in parts:
            archive.writestr(f"{part}.npy", header.getvalue())


def digest(folder: Path) -> str:
    """SHA-256 of every row of every table, and of the names and contents of all files."""
    found = hashlib.sha256()
    for model in apps.get_models(include_auto_created=True):
        rows = model._base_manager.order_by("pk").values_list()
        found.update(f"{model._meta.label}{list(rows)}".encode(errors="surrogatepass"))
    for path in sorted(folder.rglob("*")):
        if "cache" not in path.parts and "numba" not in path.parts:  # copies of stored files come and go
            found.update(f"{path}{path.read_bytes() if path.is_file() else b''!r}".encode())
    return found.hexdigest()


def complaint_about(row: str, capsys) -> str:
    """Run one command; return what is wrong with its end, or nothing."""
    typed, _, words = row.partition(" => ")
    name, *arguments = shlex.split(typed)
    code: object = 0
    try:
        load_command_class(get_commands()[name], name).run_from_argv(["manage.py", name, *arguments])
    except SystemExit as ended:
        code = ended.code
    except BaseException as error:  # what a terminal would show as a traceback
        capsys.readouterr()
        return f"{typed}: {type(error).__name__}: {error}"
    line = capsys.readouterr().err.removesuffix("\n")
    if code in (0, None):
        return f"{typed}: accepted"
    if not line.startswith("CommandError: ") or "\n" in line or len(line) > LONGEST:
        return f"{typed}: not one line: {line[:900]!r}"
    if words not in line:
        return f"{typed}: {line!r} does not have {words!r}"
    return ""


@pytest.mark.parametrize("name", BY_COMMAND)
def test_wrong_commands_are_refused_in_one_line_and_change_nothing(world, before, django_db_blocker, capsys, name):
    with django_db_blocker.unblock():
        complaints = [complaint_about(row, capsys) for row in BY_COMMAND[name]]
        after = digest(world)
    assert [complaint for complaint in complaints if complaint] == []
    assert after == before, "one of them changed rows or files"
