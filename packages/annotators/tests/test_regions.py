"""Region features: read by image, refused when they are invalid, never changed unnoticed."""

import numpy as np
import pytest

from counterpart_annotators.nn.regions import Regions, survey
from counterpart_annotators.plain import PlainImage
from counterpart_metrics.errors import CounterpartError
from regioned import make_regions, write_regions

KEYS = ["12", "40", "77"]


def images(*keys: str) -> list[PlainImage]:
    return [PlainImage(key) for key in keys]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "regions"


def test_each_image_gets_its_own_regions_in_their_order(folder):
    features = make_regions(folder, KEYS)
    regions = Regions(folder, survey(folder))
    np.testing.assert_array_equal(regions.of(images("77", "12")), features[[2, 0]])
    assert regions.shape == (5, 8)


def test_parts_are_read_together(folder):
    test, train = make_regions(folder, KEYS), make_regions(folder, ["1"], part="train", seed=1)
    found = Regions(folder, survey(folder)).of(images("1", "40"))
    np.testing.assert_array_equal(found, np.stack([train[0], test[1]]))


def test_an_image_may_be_in_several_equal_rows(folder):
    features = make_regions(folder, KEYS)
    write_regions(folder, ["40", "12"], features[[1, 0]], part="dev")
    np.testing.assert_array_equal(Regions(folder, survey(folder)).of(images("12"))[0], features[0])


def test_equal_folders_have_equal_digests_and_others_do_not(folder, tmp_path):
    make_regions(folder, KEYS)
    make_regions(tmp_path / "same", KEYS)
    make_regions(tmp_path / "other", KEYS, seed=1)
    first, same, other = (survey(path)["region_digests"] for path in (folder, tmp_path / "same", tmp_path / "other"))
    assert (first == same).all()
    assert not (first == other).all(1).any()


def test_missing_images_are_counted_and_named(folder):
    make_regions(folder, KEYS)
    with pytest.raises(CounterpartError, match="2 of 3 images: 13, 14"):
        Regions(folder, survey(folder)).of(images("13", "12", "14"))


def test_a_row_that_changed_after_the_survey_is_refused(folder):
    features = make_regions(folder, KEYS)
    surveyed = survey(folder)
    features[1, 0, 0] += 1
    write_regions(folder, KEYS, features)
    regions = Regions(folder, surveyed)
    assert len(regions.of(images("12"))) == 1
    with pytest.raises(CounterpartError, match="1 image .*: 40"):
        regions.of(images("12", "40"))


def test_an_image_that_came_after_the_survey_counts_as_missing(folder):
    make_regions(folder, KEYS)
    surveyed = survey(folder)
    make_regions(folder, ["99"], part="later")
    with pytest.raises(CounterpartError, match="1 of 1 images: 99"):
        Regions(folder, surveyed).of(images("99"))


@pytest.mark.parametrize(
    ("value", "message"), [(np.nan, r"NaN or infinity in 1 image: 40\."), (np.inf, r"NaN or infinity in 1 image: 40")]
)
def test_infinite_numbers_are_refused_with_their_images(folder, value, message):
    features = make_regions(folder, KEYS)
    features[1, 2, 3] = value
    write_regions(folder, KEYS, features)
    with pytest.raises(CounterpartError, match=message):
        survey(folder)


def test_unequal_rows_of_one_image_are_refused(folder):
    make_regions(folder, KEYS)
    make_regions(folder, ["77"], part="dev", seed=1)
    with pytest.raises(CounterpartError, match="differ in 1 image: 77"):
        survey(folder)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.zeros((3, 8), np.float32), r"shape \(images, regions, channels\), not \(3, 8\)"),
        (np.zeros((3, 5, 8), np.int64), "must hold floats"),
        (np.zeros((2, 5, 8), np.float32), "has 2 rows but 3 ids"),
        (np.zeros((3, 0, 8), np.float32), "must hold floats"),
    ],
)
def test_arrays_of_another_shape_are_refused(folder, features, message):
    write_regions(folder, KEYS, features)
    with pytest.raises(CounterpartError, match=message):
        survey(folder)


def test_vectors_are_read_where_their_axes_are_called_so(folder):
    vectors = write_regions(folder, KEYS, np.eye(3, 8, dtype=np.float32))
    regions = Regions(folder, survey(folder, axes=["numbers"]))
    assert regions.shape == (8,)
    np.testing.assert_array_equal(regions.of(images("77"))[0], vectors[2])


@pytest.mark.parametrize("spoil", ["ids", "cut", "pickle"])
def test_files_that_cannot_be_read_are_refused(folder, spoil):
    make_regions(folder, KEYS)
    if spoil == "ids":
        (folder / "test_ids.txt").unlink()
    elif spoil == "cut":
        (folder / "test_ims.npy").write_bytes((folder / "test_ims.npy").read_bytes()[:-40])
    else:
        np.save(folder / "test_ims.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(CounterpartError, match="cannot be read"):
        survey(folder)
