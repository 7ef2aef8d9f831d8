"""An annotator of one's own, by the recipe of CONTRIBUTING.md."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mitl import annotators
from mitl.models import Annotator, Retrieval
from tests.commands import output_of
from tests.factories import make_collection

ROOT = Path(__file__).resolve().parents[3]
RECIPE = re.search(r"\*\*Add an annotator\.\*\*(.*?)\n\n", (ROOT / "CONTRIBUTING.md").read_text(), re.S)[1]


@pytest.mark.parametrize("form", ["module", "folder"])
def test_the_recipe_for_an_annotator_makes_a_kind_that_learns_and_retrieves(db, tmp_path, monkeypatch, form):
    make_collection("zoo", images=6, captions_each=2, pictures=True)
    if form == "module":
        nearest = re.search(r"such as `(mitl/annotators/\w+\.py)`", RECIPE)
        shutil.copy(ROOT / nearest[1], tmp_path / "coin.py")
    else:
        nearest = re.search(r"such as `(mitl/annotators/\w+)/`", RECIPE)
        shutil.copytree(ROOT / nearest[1], tmp_path / "coin")
    monkeypatch.setattr(annotators, "__path__", [*annotators.__path__, str(tmp_path)])
    output_of("add_annotator", "mine", "--kind", "coin", *(["--option", "dim=2"] if form == "folder" else []))
    if form == "folder":
        output_of("train_annotator", "mine", "--collection", "zoo")
    output_of("retrieve", "zoo", "--annotators", "mine")
    assert Retrieval.objects.get().annotator == Annotator.objects.get(kind="coin")
    for module in [name for name in sys.modules if name.startswith("mitl.annotators.coin")]:
        sys.modules.pop(module)


def test_what_kinds_declare_is_read_without_their_large_packages():
    read = "from mitl.annotators import kind_of, kinds; assert all(kind_of(kind) for kind in kinds())"
    loaded = "import sys; print({'torch', 'cv2', 'nltk', 'transformers', 'httpx'} & set(sys.modules))"
    setup = "import django, os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; django.setup()"
    run = subprocess.run([sys.executable, "-c", f"{setup}; {read}; {loaded}"], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("set()\n", "")
