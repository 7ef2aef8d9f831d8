"""Words that readers stumble over. A count may only fall: lower it in the change that removes a word."""

import ast
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)

WORDS = {
    "tell": r"tells?|telling",
    "told": r"told",
    "anew": r"anew",
    "none of": r"none of",
    "is no": r"is no",
    "so many": r"so many",
    "who was": r"who was",
    "nobody": r"nobody",
    "somebody": r"somebody",
    "lacks": r"lacks?|lacked|lacking",
    "stands": r"stands?|stood",
    "beside": r"beside",
}
PATTERNS = {word: re.compile(rf"\b(?:{forms})\b", re.IGNORECASE) for word, forms in WORDS.items()}
ANY = re.compile("|".join(pattern.pattern for pattern in PATTERNS.values()), re.IGNORECASE)
BETWEEN_STRINGS = re.compile(r"""["']\s*[bfr]*["']""")
COMMENT = re.compile(r"^\s*# .*$|  # .*$", re.MULTILINE)

# How often the words are still there, by where they are read.
MOST = {
    "templates and scripts": 5,
    "strings": 46,
    "docstrings": 2,
    "comments": 0,
    "names": 5,
    "docs": 1,
    "tests": 79,
}
APART = (".", "var", "node_modules", "migrations", "__pycache__")


def files() -> Iterator[Path]:
    """Files of the repository by their paths in it, without installed packages and generated folders."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if not name.startswith(APART))
        yield from (Path(folder, name).relative_to(ROOT) for name in sorted(names))


def texts_of_module(source: str) -> Iterator[tuple[str, str]]:
    """Each piece of English of a Python module, with the place where it is read."""
    tree = ast.parse(source)
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield "docstrings" if node in docstrings else "strings", node.value
        name = name_given_by(node)
        if name:
            yield "names", words_of_name(name)
    yield from (("comments", comment) for comment in COMMENT.findall(source))


def name_given_by(node: ast.AST) -> str | None:
    """The name of a function, a class, an argument or a variable, where the node declares it."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    return None


def words_of_name(name: str) -> str:
    """``is_toldYet`` as the words "is told Yet"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("_", " "))


def texts() -> Iterator[tuple[str, Path, str]]:
    """All English of the repository: its place, its file, the text."""
    for path in files():
        if path.suffix == ".py":
            source = (ROOT / path).read_text()
            if not ANY.search(words_of_name(BETWEEN_STRINGS.sub("", source))):
                continue  # to parse all modules takes ten times as long
            is_test = not {"tests", "benchmarks"}.isdisjoint(path.parts)
            for place, text in texts_of_module(source):
                yield "tests" if is_test else place, path, text
        elif path.suffix in (".html", ".js") or (path.suffix == ".txt" and "templates" in path.parts):
            yield "templates and scripts", path, (ROOT / path).read_text()
        elif path.suffix == ".md":
            yield "docs", path, (ROOT / path).read_text()


@pytest.fixture(scope="module")
def counted() -> dict[str, Counter]:
    """How often each place has each word, and how often each file has one."""
    read = defaultdict(list)
    for place, path, text in texts():
        read[place, str(path)].append(text)
    found = {place: Counter() for place in MOST}
    for (place, path), pieces in read.items():
        text = "\n".join(pieces)
        for word, pattern in PATTERNS.items():
            times = len(pattern.findall(text))
            found[place].update({word: times, path: times})
    return found


@pytest.mark.parametrize("place", MOST)
def test_words_that_readers_stumble_over_become_fewer(counted, place):
    by_word = {word: counted[place][word] for word in WORDS if counted[place][word]}
    by_file = [(file, times) for file, times in counted[place].most_common() if "/" in file or file.endswith(".md")]
    assert sum(by_word.values()) <= MOST[place], (
        f"write these {place} in plain words (CONTRIBUTING.md says which): {by_word}, most in {by_file[:5]}"
    )
