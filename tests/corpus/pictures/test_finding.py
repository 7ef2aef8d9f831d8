"""A picture is found by its path, else by its name if only one file has it; what is in doubt is refused by name."""

import unicodedata
from io import BytesIO

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow

from core.errors import CounterpartError
from corpus.pictures.stored_pictures import SUFFIXES, find_pictures, shown, store_picture
from tests.corpus.files import picture_folder

LETTERS = st.text(st.characters(categories=["L", "N", "M"], max_codepoint=0x2FFF), min_size=1, max_size=8)


def found(folder, *names: str) -> list[str | None]:
    paths = find_pictures(folder, dict(enumerate(names))).values()
    return [path and path.relative_to(folder).as_posix() for path in paths]


@pytest.fixture
def folder(tmp_path):
    return picture_folder(tmp_path, "train/0001.jpg", "test/0001.jpg", "deep/er/7.JPG", "train/8.jpg", "8.jpg")


def test_the_path_goes_first_and_then_the_only_file_of_that_name(folder):
    names = ("train/0001.jpg", "test/0001.jpg", "images/7.JPG", "8.jpg", "none.jpg")
    assert found(folder, *names) == ["train/0001.jpg", "test/0001.jpg", "deep/er/7.JPG", "8.jpg", None]
    assert found(folder, "coco\\deep\\7.jpg") == ["deep/er/7.JPG"]
    assert found(folder, "/ann/train/0001.jpg", "C:\\ann\\test\\0001.jpg") == ["train/0001.jpg", "test/0001.jpg"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("0001.jpg", "8.jpg"), r"^1 picture is .*: 0001.jpg \(test/0001.jpg, train/0001.jpg\)\. Name each"),
        (("a/7.JPG", "b/7.JPG"), r"found by several names: deep/er/7.JPG \(a/7.JPG, b/7.JPG\)"),
    ],
)
def test_what_is_in_doubt_is_refused_with_the_places(folder, names, message):
    with pytest.raises(CounterpartError, match=message):
        found(folder, *names)


def test_a_file_is_not_taken_for_a_second_name(folder):
    (folder / "test" / "0001.jpg").unlink()
    assert found(folder, "train/0001.jpg", "test/0001.jpg") == ["train/0001.jpg", None]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=LETTERS, form=st.sampled_from(["NFC", "NFD"]), asked=st.sampled_from(["NFC", "NFD"]))
def test_a_name_is_found_in_any_unicode_form(tmp_path_factory, name, form, asked):
    folder = tmp_path_factory.mktemp("pictures")
    (folder / f"{unicodedata.normalize(form, name)}.png").touch()
    assert len(found(folder, f"{unicodedata.normalize(asked, name)}.png")[0] or "") > 4


@pytest.mark.parametrize("form", [form for form in SUFFIXES if form not in ("MPO", "DDS", "PSD")])
def test_a_picture_of_every_format_is_stored_by_its_content(db, form):
    drawn = Pillow.new("RGB", (64, 64), (200, 100, 50))
    written = BytesIO()
    drawn.save(written, form)
    stored = store_picture("zoo", "1", "called.jpg", written.getvalue())
    assert (stored.width, stored.height) == (64, 64)
    assert stored.file.endswith(SUFFIXES[form])
    assert np.abs(np.asarray(shown(written.getvalue())).astype(int) - (200, 100, 50)).max() <= 5


@pytest.mark.parametrize(
    ("mode", "values"),
    [("F", [0.0, 0.5, 1.0]), ("F", [0.0, 127.5, 255.0]), ("F", [-1.0, 32767.5, 65535.0]), ("F", [np.nan, 0.5, np.inf])]
    + [("I", [0, 128, 255]), ("I", [0, 32767, 65535]), ("I", [-5, 500_000, 1_000_000]), ("I;16", [0, 32767, 65535])],
)
def test_grey_of_every_depth_goes_from_black_to_white(mode, values):
    dtype = {"F": np.float32, "I": np.int32, "I;16": np.uint16}[mode]
    written = BytesIO()
    Pillow.fromarray(np.array([values], dtype)).save(written, "TIFF")
    assert np.abs(np.asarray(shown(written.getvalue()))[0, :, 0] - np.array([0, 127.5, 255])).max() <= 1
