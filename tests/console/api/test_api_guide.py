"""The examples of docs/api.md, run from its text one after the other against a live site."""

import io
import json
import re
import subprocess
import zipfile
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User

from console.api.access_tokens import make_token
from console.api.scopes import scopes_of
from dataset.models import Aggregation, Version
from hits.models import Item, Round
from simulation.simulated_rounds import simulate_round
from tests.factories import picture

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
GUIDE = (Path(__file__).resolve().parents[3] / "docs/api.md").read_text()
EXAMPLE = re.compile(r"^## ([^\n]+)$|^```(sh|python)\n(.*?)^```$", re.M | re.S)


def write_birds(folder: Path) -> None:
    """Write pictures, captions and rankings of the shapes that the guide sends."""
    with zipfile.ZipFile(folder / "pictures.zip", "w") as pictures, (folder / "captions.jsonl").open("w") as captions:
        for number in range(60):
            name = f"{number}.jpg"
            pictures.writestr(name, picture(size=(20 + number, 30)))
            row = {
                "caption_id": number,
                "image_id": number,
                "file_name": name,
                "text": f"bird {number} on branch {number % 7}",
            }
            captions.write(json.dumps(row) + "\n")
    keys = [str(number) for number in range(60)]
    (folder / "clip.json").write_text(json.dumps({side: dict.fromkeys(keys, keys) for side in ("i2t", "t2i")}))


def judge() -> None:
    """Have workers judge what was published."""
    simulate_round(Round.objects.get(name="r1"), workers=3, profile="careful", truth="original")


def test_its_examples_run_as_printed(live_server, tmp_path, monkeypatch, transactional_db):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    write_birds(tmp_path)
    owner = User.objects.create_user("robin")
    owner.groups.add(Group.objects.get(name="admin"))
    _, token = make_token(owner, "notebook", scopes_of(owner))
    monkeypatch.setenv("SITE", live_server.url)
    monkeypatch.setenv("TOKEN", token)
    printed, names, heading = {}, {}, ""
    for section, language, source in EXAMPLE.findall(GUIDE):
        if section:
            heading = section
        elif language == "sh":
            printed[heading] = printed.get(heading, "") + typed(source, live_server.url, token)
        else:
            if heading == "Read the judgments":
                judge()
            output = io.StringIO()
            with redirect_stdout(output):
                exec(compile(source, f"docs/api.md: {heading}", "exec"), names)  # noqa: S102
            printed[heading] = printed.get(heading, "") + output.getvalue()
    names["site"].close()  # the site's thread for it keeps a connection to the database
    check_outputs(printed, names)


def typed(source: str, url: str, token: str) -> str:
    """Run lines of a terminal into which the token is pasted."""
    source = source.replace("https://counterpart.example.org", url)
    run = subprocess.run(["bash", "-euo", "pipefail", "-c", source], input=f"{token}\n", capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def check_outputs(printed: dict[str, str], names: dict) -> None:
    assert '"user": "robin"' in printed["Five minutes"]
    assert "60 captions and 60 images" in printed["Import a collection"]
    assert "/judge/join/" in printed["Plan a round and publish it"]
    # The round is open then, so that judgments on controls are left out.
    assert len(names["judgments"]) == Item.objects.filter(hit__round__name="r1", control=None).count()
    pairs = Aggregation.objects.get(method="majority").verdicts.count()
    assert printed["Count the votes"].endswith(f" matches among {pairs} pairs\n")
    downloaded = printed["Download its files"].splitlines()
    assert [line.split()[-1] for line in downloaded] == ["304"] * len(Version.objects.get().manifest["files"])
    assert Version.objects.get().name == "v1"
    assert json.loads(Path("manifest.json").read_text()) == Version.objects.get().manifest
    assert "clip is scored on v1." in printed["Score models"]
    assert {line.split()[0] for line in printed["Score models"].splitlines()[2:]} == {"clip", "words"}
    assert printed["Long lists"].strip() == str(sum(len(f"bird {number} on a branch") for number in range(60)))
    happened = [line.split()[2] for line in printed["What has happened"].splitlines()]
    assert happened.index("round.published") < happened.index("round.closed") < happened.index("version.released")
    assert printed["The same call twice"] == "True true\n"
    assert re.search('answers (.*) with `("detail": .*)`', GUIDE).groups() == (
        "422",
        printed["Errors"].split(", ", 3)[3][:-1],
    )
