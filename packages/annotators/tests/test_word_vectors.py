import numpy as np
import pytest

from coloured import QUICK, SMALL, trained_arrays
from counterpart_annotators.nn.word_vectors import LONGEST_LINE, read_word_vectors
from counterpart_metrics.errors import CounterpartError


def written(folder, text: str | bytes):
    path = folder / "vectors.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("header", ["", "3 2\n"])
def test_the_vectors_of_wanted_words_are_read(tmp_path, header):
    path = written(tmp_path, f"{header}cat 1 2\ndog 3 -4e-1\nthe 5 6\ncat 7 8\n")
    found = read_word_vectors(path, ["dog", "cat", "owl"], 2)
    assert {word: vector.tolist() for word, vector in found.items()} == {"cat": [1, 2], "dog": [3, np.float32(-0.4)]}


def test_a_word_with_spaces_is_passed_over(tmp_path):
    path = written(tmp_path, ". . 1 2\n. 3 4\n")
    assert read_word_vectors(path, ["."], 2)["."].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9 3\ncat 1 2 3\n", "^Line 1 .* 3 numbers, but the option word is 2; .* --option word=3"),
        ("the 1 2\ncat 1 2 3\n", "^Line 2 .* 3 numbers"),
        ("the 1 2\nowl 1\n", "^Line 2 .* 1 numbers"),
        ("the 1 2\n\ncat 1 x\n", "^Line 3 .* not a number"),
        ("cat 1 nan\n", "^Line 1 .* 1 numbers that are not finite"),
        (b"the 1 2\ncat\xff 1 2\n", "^Line 2 .* not UTF-8"),
        ("a 1 2\ncat" + " 1" * LONGEST_LINE, "^Line 2 .* more than 1,048,576 bytes"),
        ("dog 1 2\n", "no vector of any of the 1 words"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path, text, message):
    with pytest.raises(CounterpartError, match=message):
        read_word_vectors(written(tmp_path, text), ["cat"], 2)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CounterpartError, match="nowhere.txt cannot be read"):
        read_word_vectors(tmp_path / "nowhere.txt", ["cat"], 2)


@pytest.mark.parametrize("kind", ["vse", "pvse"])
def test_training_starts_from_them(kind, tmp_path):
    vector = np.arange(25, dtype=np.float32)  # the shortest of GloVe's, of an odd length
    path = written(tmp_path, f"red {' '.join(map(str, vector))}\n")
    how = SMALL | QUICK | {"epochs": 0, "word": 25, "word_vectors": str(path)}
    arrays = trained_arrays(kind, loss="max", each=1, **how)
    drawn = trained_arrays(kind, loss="max", each=1, **how | {"word_vectors": ""})
    place = arrays["words"].tolist().index("red")
    table, before = (one["network.txt_enc.embed.weight"] for one in (arrays, drawn))
    assert table[place].tolist() == vector.tolist()
    assert np.array_equal(np.delete(table, place, 0), np.delete(before, place, 0))
