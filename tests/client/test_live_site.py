"""The client against a live site, from this checkout and from its wheel."""

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from counterpart_client import Client, ClientError, JobFailed, frame
from hits.models import Round
from tests.console.conftest import make_site
from tests.dataset.releasing import read

pytestmark = pytest.mark.slow
CLIENT = Path(__file__).resolve().parents[2] / "packages/client"
PROGRAM = """
import importlib.util, sys
from counterpart_client import ApiError, Client

assert not [name for name in ("django", "pandas", "tqdm") if importlib.util.find_spec(name)]
with Client(*sys.argv[1:]) as client:
    print([one.level for one in client.judgments("open")])
    print(client.wait(client.close_round("open")).message)
"""


@pytest.fixture
def client(live_server, token) -> Client:
    with Client(live_server.url, token) as client:
        yield client


def test_a_round_is_published_read_closed_and_counted(client):
    made = make_site()
    job = client.publish_round("draft", ceiling=made.draft.ceiling, channel="browser", expected_minutes=2)
    client.wait(job)
    assert [one.name for one in client.rounds(collection="zoo")][0] == client.round("draft").name
    assert "/judge/join/" in client.round("draft").join_link
    client.wait(client.close_round("open"))
    assert Round.objects.get(name="open").state == "closed"
    client.wait(client.count_votes("done", method="majority"))
    assert {one.method for one in client.aggregations("done")} >= {"majority"}


def test_judgments_are_the_same_as_rows_and_as_a_table(client):
    make_site()
    rows = frame(client.judgments("open"))
    table = client.judgments_frame("open")
    assert json.loads(rows.to_json()) == json.loads(table.to_json())
    assert len(rows) == 2  # without those on controls


def test_a_version_is_downloaded_and_exported(client, tmp_path):
    made = make_site()
    client.wait(client.close_round("done"))
    files = client.download("v1", to=tmp_path)
    assert {one.name for one in files} == {*made.version.manifest["files"], "manifest.json"}
    assert (tmp_path / "pairs.csv").read_text() == read(made.version, "pairs.csv")
    client.wait(client.export_version("v1", "coco_strict"))
    archive = client.download_export("v1", "coco_strict", to=tmp_path)
    assert zipfile.ZipFile(archive).namelist()


def test_a_job_that_fails_is_raised_with_what_is_wrong(client):
    make_site()  # whose pictures are no files
    with pytest.raises(JobFailed, match="Version v1 does not verify"):
        client.wait(client.verify_version("v1"))


def test_a_missing_file_or_export_of_a_version_is_named(client):
    make_site()
    with pytest.raises(ClientError, match=r"no file 'none\.csv'; it has"):
        client.download("v1", "none.csv")
    with pytest.raises(ClientError, match="Call export_version"):
        client.download_export("v1", "coco_strict")


def test_rankings_of_a_file_are_scored(client, tmp_path):
    made = make_site()
    images = list(made.collection.images.values_list("key", flat=True))
    captions = list(made.collection.captions.values_list("key", flat=True))
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"i2t": dict.fromkeys(images, captions), "t2i": dict.fromkeys(captions, images)}))
    client.wait(client.register_run("zoo", file, model="mine"))
    assert [one.model for one in client.runs(version="v1")] == ["mine"]
    assert set(client.leaderboard_frame("v1").model) == {"mine"}


def test_the_wheel_alone_works_in_an_empty_environment(live_server, token, tmp_path):
    make_site()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    source = copytree(CLIENT, tmp_path / "source", ignore=ignore_patterns("*.egg-info"))  # building writes there
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, source], check=True)
    venv.create(tmp_path / "empty", with_pip=False)
    python = tmp_path / "empty/bin/python"
    (wheel,) = tmp_path.glob("counterpart_client-*.whl")
    assert any(name.endswith("licenses/LICENSE") for name in zipfile.ZipFile(wheel).namelist())
    subprocess.run([*pip, "--python", python, "install", wheel], check=True)
    answer = subprocess.run([python, "-I", "-c", PROGRAM, live_server.url, token], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    levels, message = answer.stdout.splitlines()
    assert len(json.loads(levels)) == 2
    assert "open" in message
    assert Round.objects.get(name="open").state == "closed"
