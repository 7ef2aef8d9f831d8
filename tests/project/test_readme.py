"""The README's five minutes, typed from its text in a fresh folder."""

import json
import os
import re
import subprocess
import sys
from shutil import copy

import pytest

from tests.factories import picture
from tests.ports import reserved_port, running
from tests.project.names import ROOT

README = (ROOT / "README.md").read_text()
FIVE_MINUTES = README.partition("## Five minutes by hand")[2].partition("\n## ")[0]
YOUR_OWN = README.partition("## Your own collection")[2].partition("\n## ")[0]
WITH_A_CROWD = README.partition("## With a crowd")[2].partition("\n## ")[0]

# Each command runs in a process of its own, which has imported the same as one of manage.py: that takes two seconds.
# What it prints is in the file of its name.
TYPIST = """
import json, os, sys
import django
from django.core.management import execute_from_command_line
django.setup()
import config.urls
for typed in json.loads(sys.argv[1]):
    child = os.fork()
    if child == 0:
        os.dup2(os.open(f"{typed[1]}.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        execute_from_command_line(typed)
        sys.exit()
    if os.waitpid(child, 0)[1]:
        sys.exit(f"failed: {typed}")
"""


@pytest.mark.slow
@pytest.mark.django_db
def test_its_commands_run_as_printed(migrated, tmp_path):
    """On a database that was migrated before, which takes a quarter of the time."""
    (tmp_path / "var").mkdir()
    copy(migrated, tmp_path / "var/counterpart.sqlite3")
    with reserved_port() as emulator, reserved_port() as site:
        play(tmp_path, emulator, site)


def play(tmp_path, emulator, site):
    addresses = {"PROLIFIC_EMULATOR_URL": f"http://127.0.0.1:{emulator}", "SITE_URL": f"http://127.0.0.1:{site}"}
    folders = {"VAR_DIR": str(tmp_path / "var"), "DATABASE_URL": "", "REDIS_URL": "", "PYTHONPATH": str(ROOT)}
    folders["DJANGO_SETTINGS_MODULE"] = "config.settings"
    given = {"cwd": tmp_path, "env": {**os.environ, **folders, **addresses}}
    (tmp_path / "manage.py").symlink_to(ROOT / "manage.py")
    (tmp_path / "config").symlink_to(ROOT / "config")
    write_collection(tmp_path)

    start_emulator, *with_a_crowd = commands_of(WITH_A_CROWD)
    typed = [*commands_of(FIVE_MINUTES), *commands_of(YOUR_OWN), *with_a_crowd]
    assert typed[0] == ["manage.py", "migrate"]
    start_site = re.search(r"^    (gunicorn .*?) +#", WITH_A_CROWD, re.M)[1].split()
    with (
        running([*start_emulator, "--port", str(emulator)], emulator, **given),
        running(["-m", *start_site, "--bind", f"127.0.0.1:{site}"], site, **given),
    ):
        run = subprocess.run([sys.executable, "-c", TYPIST, json.dumps(typed)], capture_output=True, text=True, **given)
    assert run.returncode == 0, run.stderr
    ((images, captions),) = re.findall(
        r"^  v1 +\d+ +([0-9.]+) +\d+ +([0-9.]+)$", (tmp_path / "release.txt").read_text(), re.M
    )
    assert (round(float(images)), round(2 * float(captions))) == (2, 3), "as the README says"
    exported = sorted(path.name for path in (tmp_path / "export").iterdir())
    assert exported == ["SHA256SUMS", "v1_about", "v1_caption_to_image.json", "v1_image_to_caption.json"]
    assert re.search(r"^owed: +\$0\.00$", (tmp_path / "ledger.txt").read_text(), re.M)


def write_collection(folder):
    """Write 60 pictures and a file of captions of the shape that the README shows."""
    example = json.loads(re.search(r"`({.*})`", YOUR_OWN)[1])
    (folder / "pictures").mkdir()
    with (folder / "captions.jsonl").open("w") as file:
        for number in range(60):
            (folder / "pictures" / f"{number}.jpg").write_bytes(picture(size=(20 + number, 30)))
            row = {"caption_id": number, "image_id": number, "file_name": f"{number}.jpg", "text": f"a dog {number}"}
            assert row.keys() == example.keys()
            file.write(json.dumps(row) + "\n")


def commands_of(section):
    return [typed.split() for typed in re.findall(r"^    python (manage.py .*?)(?: +#.*)?$", section, re.M)]
