import doctest
from pathlib import Path


def test_the_examples_of_the_readme_are_true():
    page = Path(__file__).resolve().parent.parent / "README.md"
    results = doctest.testfile(str(page), module_relative=False)
    assert (results.failed, results.attempted >= 7) == (0, True)
