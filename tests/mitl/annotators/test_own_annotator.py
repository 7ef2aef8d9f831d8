"""An annotator of one's own, by the recipe of CONTRIBUTING.md."""

import re
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from mitl import annotators
from mitl.models import Annotator, Retrieval
from tests.factories import make_collection

ROOT = Path(__file__).resolve().parents[3]
RECIPE = re.search(r"\*\*Add an annotator\.\*\*(.*?)\n\n", (ROOT / "CONTRIBUTING.md").read_text(), re.S)[1]


@pytest.fixture
def zoo(db):
    return make_collection("zoo", images=6, captions_each=2, pictures=True)


def test_the_recipe_for_an_annotator_makes_a_kind_that_retrieves(zoo, tmp_path, monkeypatch):
    nearest = re.search(r"such as `(mitl/annotators/\w+\.py)`", RECIPE)
    (tmp_path / "coin.py").write_text((ROOT / nearest[1]).read_text())
    monkeypatch.setattr(annotators, "__path__", [*annotators.__path__, str(tmp_path)])
    call_command("add_annotator", "mine", "--kind", "coin", stdout=StringIO())
    call_command("retrieve", "zoo", "--annotators", "mine", stdout=StringIO(), stderr=StringIO())
    assert Retrieval.objects.get().annotator == Annotator.objects.get(kind="coin")
    sys.modules.pop("mitl.annotators.coin")


def test_a_copied_folder_is_a_kind_that_trains_and_retrieves(zoo, tmp_path, monkeypatch):
    nearest = re.search(r"such as `(mitl/annotators/\w+)/`", RECIPE)
    shutil.copytree(ROOT / nearest[1], tmp_path / "coins")
    monkeypatch.setattr(annotators, "__path__", [*annotators.__path__, str(tmp_path)])
    call_command("add_annotator", "mine", "--kind", "coins", "--option", "dim=2", stdout=StringIO())
    call_command("train_annotator", "mine", "--collection", "zoo", stdout=StringIO(), stderr=StringIO())
    call_command("retrieve", "zoo", "--annotators", "mine", stdout=StringIO(), stderr=StringIO())
    assert Retrieval.objects.get().annotator == Annotator.objects.get(kind="coins")
    for module in [name for name in sys.modules if name.startswith("mitl.annotators.coins")]:
        sys.modules.pop(module)


def test_what_kinds_declare_is_read_without_their_large_packages():
    read = "from mitl.annotators import kind_of, kinds; assert all(kind_of(kind) for kind in kinds())"
    loaded = "import sys; print({'torch', 'cv2', 'nltk', 'transformers', 'httpx'} & set(sys.modules))"
    setup = "import django, os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; django.setup()"
    run = subprocess.run([sys.executable, "-c", f"{setup}; {read}; {loaded}"], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("set()\n", "")
