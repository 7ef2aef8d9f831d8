"""What the documents name exists, and what exists is documented."""

import re
import tomllib

import pytest
import yaml
from django.core.management import get_commands, load_command_class
from django.urls import resolve

from core import extensions
from tests.project.names import COMMANDS, ROOT

PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


def text_of(*names: str) -> str:
    return "\n".join((ROOT / name).read_text() for name in names)


def test_every_variable_that_the_settings_read_is_documented():
    readers = ["config/settings.py", "core/site/environment.py", *map(str, (ROOT / "crowd/channels").rglob("*.py"))]
    read = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', text_of(*readers)))
    documented = set(re.findall(r"`([A-Z_0-9]+)`", text_of("docs/operators.md")))
    assert read - documented == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_and_has_help(name):
    command = load_command_class(get_commands()[name], name)
    assert command.help.strip()
    assert re.search(rf"\b{name}\b", "\n".join(page.read_text() for page in PAGES))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_page_shows_exists(page):
    shown = set(re.findall(r"manage\.py (\w+)", page.read_text()))
    assert shown <= set(get_commands())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page):
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("name", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_file_and_folder_that_a_guide_names_exists(name):
    named = set(re.findall(r"`((?:\w+/)+(?:\w+\.\w+)?)`", text_of(name)))
    assert len(named) > 12
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_command_has_a_page_or_says_why_not():
    rows = [row.split("|")[1:4] for row in text_of("docs/console.md").splitlines() if row.startswith("| `")]
    assert [command.strip(" `") for command, _page, _why in rows] == COMMANDS
    assert [command for command, page, why in rows if not page.strip() and not why.strip()] == []
    addresses = re.findall(r"`(/[^`]*)`", "".join(page for _command, page, _why in rows))
    for address in addresses:
        resolve(address.replace("NAME", "x").replace("NUMBER", "1"))


DESCRIBED_IN = {
    "COLLECTION_READERS": "docs/researchers.md",
    "JUDGMENT_READERS": "docs/researchers.md",
    "RANKING_READERS": "docs/researchers.md",
    "EXPORT_FORMATS": "docs/researchers.md",
    "TASK_TYPES": "docs/task-types.md",
}
EXTENSIONS = [(kind, name) for kind in DESCRIBED_IN for name in getattr(extensions, kind)]


@pytest.mark.parametrize(("kind", "name"), EXTENSIONS)
def test_every_format_and_type_of_task_is_described(kind, name):
    page = DESCRIBED_IN[kind]
    assert re.search(rf"`[^`]*{re.escape(name)}\b[^`]*`", text_of(page)), f"describe `{name}` of {kind} in {page}"


def test_a_line_of_the_changelog_begins_with_its_kind_and_is_short():
    lines = [line for line in text_of("CHANGELOG.md").splitlines() if line.startswith(("-", " "))]
    assert [line for line in lines if not re.fullmatch(r"- (Add|Fix|Change|Remove) .+", line) or len(line) > 100] == []


def test_a_version_of_the_changelog_names_its_commit():
    versions = re.findall(r"^## (\d.*)$", text_of("CHANGELOG.md"), re.M)
    assert [version for version in versions if not re.search(r"commit [0-9a-f]{8}\)$", version)] == []


def test_the_citation_has_the_version_of_the_project():
    citation = yaml.safe_load(text_of("CITATION.cff"))
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    assert (citation["cff-version"], citation["version"]) == ("1.2.0", project["version"])
    assert citation["license"] == project["license"]
