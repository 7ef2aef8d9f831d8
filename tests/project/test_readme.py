"""The README's five minutes, typed from its text in a fresh folder."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.factories import picture

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
FIVE_MINUTES = README.partition("## Five minutes with your own collection")[2].partition("\n## ")[0]


def test_the_readme_names_both_commands():
    assert "    make demo\n" in README
    assert "`make test`" in README


def test_five_minutes_begin_with_a_database_and_end_with_files():
    names = re.findall(r"^    python manage.py (\w+)", FIVE_MINUTES, re.M)
    assert (names[0], names[-1]) == ("migrate", "export")


@pytest.mark.slow
def test_five_minutes_run_as_printed(tmp_path):
    example = json.loads(re.search(r"`({.*})`", FIVE_MINUTES)[1])
    (tmp_path / "pictures").mkdir()
    (tmp_path / "manage.py").symlink_to(ROOT / "manage.py")
    with (tmp_path / "captions.jsonl").open("w") as file:
        for number in range(60):
            (tmp_path / "pictures" / f"{number}.jpg").write_bytes(picture(size=(20 + number, 30)))
            row = {"caption_id": number, "image_id": number, "file_name": f"{number}.jpg", "text": f"a dog {number}"}
            assert row.keys() == example.keys()
            file.write(json.dumps(row) + "\n")
    environment = {**os.environ, "VAR_DIR": str(tmp_path / "var"), "DATABASE_URL": "", "REDIS_URL": ""}
    for typed in re.findall(r"^    python (manage.py .*?)(?: +#.*)?$", FIVE_MINUTES, re.M):
        run = subprocess.run(
            [sys.executable, *typed.split()], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, (typed, run.stderr)
    exported = sorted(path.name for path in (tmp_path / "export").iterdir())
    assert exported == ["SHA256SUMS", "v1_about", "v1_caption_to_image.json", "v1_image_to_caption.json"]
