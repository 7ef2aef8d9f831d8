"""Words that readers stumble over. A count may only fall: lower it in the change that removes a word."""

import ast
import io
import re
import tokenize
from collections import Counter
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

# How often the words are still there, by where they are read.
MOST = {
    "templates and scripts": 145,
    "strings": 234,
    "docstrings": 662,
    "comments": 81,
    "names": 138,
    "docs": 295,
    "tests": 1560,
}
IN_TESTS = ("tests", "benchmarks")
APART = (".venv", "var", "node_modules", ".git", "migrations")


def paths(*patterns: str) -> Iterator[Path]:
    """Files of the repository that match, without installed packages and generated folders."""
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            parts = path.relative_to(ROOT).parts
            if not any(part.startswith(APART) for part in parts):
                yield path


def is_test(path: Path) -> bool:
    return any(part in IN_TESTS for part in path.relative_to(ROOT).parts)


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
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield "comments", token.string


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
    for path in paths("**/*.py"):
        for place, text in texts_of_module(path.read_text()):
            yield "tests" if is_test(path) else place, path, text
    for path in paths("**/templates/**/*.html", "**/templates/**/*.txt", "static/**/*.js"):
        yield "templates and scripts", path, path.read_text()
    for path in paths("*.md", "docs/*.md", "packages/*/*.md", "deploy/**/*.md"):
        yield "docs", path, path.read_text()


@pytest.fixture(scope="module")
def counted() -> dict[str, Counter]:
    """How often each place has each word, and how often each file has one."""
    found = {place: Counter() for place in MOST}
    for place, path, text in texts():
        for word, pattern in PATTERNS.items():
            times = len(pattern.findall(text))
            if times:
                found[place][word] += times
                found[place][str(path.relative_to(ROOT))] += times
    return found


@pytest.mark.parametrize("place", MOST)
def test_words_that_readers_stumble_over_become_fewer(counted, place):
    by_word = {word: counted[place][word] for word in WORDS if counted[place][word]}
    by_file = [(file, times) for file, times in counted[place].most_common() if "/" in file or file.endswith(".md")]
    assert sum(by_word.values()) <= MOST[place], (
        f"write these {place} in plain words (CONTRIBUTING.md says which): {by_word}, most in {by_file[:5]}"
    )
