"""The look before an import: what would be written, what is in doubt and what is left out; then one question."""

from contextlib import nullcontext
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from corpus.models import Collection
from tests.commands import figures_printed, output_of
from tests.corpus.files import jsonl, line, picture_folder, written

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path):
    names = ("train/007.jpg", "test/7.jpg", "test/8.jpg", "test/9.jpg", "test/more.jpg")
    made = picture_folder(tmp_path / "birds", *names)
    (made / "test" / "9.jpg").write_bytes(b"no picture")
    rows = [
        line(f"c{i}", key, f"bird {i}", name)
        for i, (key, name) in enumerate(
            [
                ("007", "train/007.jpg"),
                ("7", "test/7.jpg"),
                ("8", "test/8.jpg"),
                ("9", "test/9.jpg"),
                ("8b", "test/8.jpg"),
            ]
        )
    ]
    return jsonl(tmp_path / "birds.jsonl", *rows, line("c9", "7", "")), made


def test_a_look_shows_everything_and_writes_nothing(folder):
    path, pictures = folder
    look = figures_printed("import_collection", "birds", path, "--images", pictures, "--look")
    assert (look["format"], look["images"], look["captions"], look["pictures"]) == ("jsonl", 5, 5, 4)
    splits = [(split["name"], split["images"], split["captions"], split["gallery"]) for split in look["splits"]]
    assert splits == [("test", 4, 4, True), ("train", 1, 1, False)]
    assert [(one["text"], one["file"], one["width"]) for one in look["examples"]] == [
        ("bird 1", "test/7.jpg", 21),
        ("bird 2", "test/8.jpg", 22),
        ("bird 4", "test/8.jpg", 22),
    ]
    assert look["examples"][0]["picture"].startswith("data:image/jpeg;base64,")
    assert look["names_found_twice"] == ["test/8.jpg (images 8, 8b)"]
    assert look["doubtful_ids"] == ["007 and 7", "1 id with leading zeros"]
    assert [one[:5] for one in look["broken_pictures"]] == ["9.jpg"]
    assert look["bad_rows"] == ["birds.jsonl, line 6 (the caption has no text)"]
    assert look["left_out"] == ["test/more.jpg (no caption names it)"]
    assert len(look["troubles"]) == 2
    text = output_of("import_collection", "birds", path, "--images", pictures, "--look", "--skip-broken")
    assert "test        4         4   gallery" in text
    assert not Collection.objects.exists()


@pytest.mark.parametrize(("answer", "options", "n"), [("n", (), 0), ("y", (), 1), ("", (), 0), (None, ("--yes",), 1)])
def test_a_terminal_asks_once_and_a_script_never(tmp_path, monkeypatch, answer, options, n):
    asked = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or answer)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    out = StringIO()
    out.isatty = lambda: True
    path = written(tmp_path / "c.csv", "image,caption\na.jpg,a cat\n")
    refused = nullcontext() if n else pytest.raises(CommandError, match=r"^Nothing was imported\. Answer y")
    with refused:
        call_command("import_collection", "birds", str(path), *options, stdout=out)
    assert asked == ([] if options else ["Import this? [y/N] "])
    assert Collection.objects.count() == n
    assert ("1 image, 1 caption, 0 pictures" in out.getvalue()) == (not options)
