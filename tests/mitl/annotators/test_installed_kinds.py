"""The example of docs/annotators.md, taken from the page, installed and searched with; and what it says of kinds."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from core.errors import CounterpartError
from counterpart_annotators import kinds
from counterpart_annotators.base import EmbeddingAnnotator
from mitl import annotators
from mitl.models import Annotator, Direction, Retrieval
from mitl.search.gallery import load_lists
from tests.commands import output_of
from tests.factories import make_collection
from tests.mitl.pictured import COLOURS, make_coloured_collection

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "annotators.md").read_text()


def block(language: str) -> str:
    """The page's only block of code in a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The package of the page, where Python and importlib.metadata find it."""
    (tmp_path / "palette.py").write_text(block("python"))
    described = tmp_path / "palette-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: palette\nVersion: 1.0\n")
    group, entry = re.fullmatch(r'\[project\.entry-points\."(.+)"\]\n(.+)\n', block("toml")).groups()
    (described / "entry_points.txt").write_text(f"[{group}]\n{entry.replace(chr(34), '')}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "palette", raising=False)
    annotators._installed.cache_clear()
    yield
    annotators._installed.cache_clear()


def test_an_annotator_of_an_installed_package_is_added_and_searched_with(db, installed):
    collection = make_coloured_collection()
    collection.captions.filter(key="red4-1").update(text="It names no colour.")
    call_command("add_annotator", "colours", "--kind", "palette", "--option", "side=16")
    call_command("retrieve", "colours", "--annotators", "colours", "--depth", "2")
    lists = load_lists(Annotator.objects.get(name="colours").retrievals.get())[Direction.IMAGE_TO_CAPTION]
    own = dict(collection.captions.values_list("pk", "image_id"))
    assert [[own[caption] for caption in row] for row in lists.items.tolist()] == [
        [i, i] for i in lists.queries.tolist()
    ]
    assert len(lists.queries) == len(COLOURS)
    assert isinstance(annotators.load(Annotator.objects.get(name="colours")), EmbeddingAnnotator)


def test_a_kind_whose_large_package_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "counterpart_annotators.kinds.kcca.annotator", None)
    with pytest.raises(CounterpartError, match="kind 'kcca' cannot be loaded"):
        annotators.module_of("kcca")


@pytest.mark.parametrize("kind", annotators.built_in())
def test_the_page_names_every_kind_and_all_its_options(kind):
    rows = [row for row in PAGE.splitlines() if row.startswith(f"| `{kind}` |")]
    assert len(rows) >= 2, f"add a row `| `{kind}` | … |` to the tables of kinds and of options in docs/annotators.md"
    groups = dict(re.findall(r"^\| (\*\w+\*) \| (.*) \|$", PAGE, re.M))  # options of several kinds, named together
    row = re.sub(r"\*\w+\*", lambda group: groups[group[0]], rows[-1].split("|")[2])
    named = set(re.findall(r"`(\w+)`", row))
    options = set(annotators.kind_of(kind).options)
    assert named == options, f"name the options of {kind} in its row of the table of options in docs/annotators.md"


# An annotator of one's own, by the recipe of CONTRIBUTING.md


ROOT = Path(__file__).resolve().parents[3]
RECIPE = re.search(r"\*\*Add an annotator\.\*\*(.*?)\n\n", (ROOT / "CONTRIBUTING.md").read_text(), re.S)[1]


@pytest.mark.parametrize("form", ["module", "folder"])
def test_the_recipe_for_an_annotator_makes_a_kind_that_learns_and_retrieves(db, tmp_path, monkeypatch, form):
    make_collection("zoo", images=6, captions_each=2, pictures=True)
    if form == "module":
        nearest = re.search(r"such as `(packages/annotators/\w+/kinds/\w+\.py)`", RECIPE)
        shutil.copy(ROOT / nearest[1], tmp_path / "coin.py")
    else:
        nearest = re.search(r"such as `(packages/annotators/\w+/kinds/\w+)/`", RECIPE)
        shutil.copytree(ROOT / nearest[1], tmp_path / "coin")
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    output_of("add_annotator", "mine", "--kind", "coin", *(["--option", "dim=2"] if form == "folder" else []))
    if form == "folder":
        output_of("train_annotator", "mine", "--collection", "zoo")
    output_of("retrieve", "zoo", "--annotators", "mine")
    assert Retrieval.objects.get().annotator == Annotator.objects.get(kind="coin")
    for module in [name for name in sys.modules if name.startswith("counterpart_annotators.kinds.coin")]:
        sys.modules.pop(module)


def test_what_kinds_declare_is_read_without_their_large_packages():
    read = "from mitl.annotators import kind_of, kinds; assert all(kind_of(kind) for kind in kinds())"
    loaded = "import sys; print({'torch', 'cv2', 'nltk', 'transformers', 'httpx'} & set(sys.modules))"
    setup = "import django, os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; django.setup()"
    run = subprocess.run([sys.executable, "-c", f"{setup}; {read}; {loaded}"], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("set()\n", "")
