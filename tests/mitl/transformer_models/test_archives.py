"""TorchScript archives give their tensors, and nothing in them is run."""

import pickle
import zipfile

import pytest
import torch
from torch import nn

from core.errors import CounterpartError
from mitl.transformer_models.archives import is_archive, read_archive

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4, bias=False), nn.LayerNorm(4))
        self.scale = nn.Parameter(torch.tensor(3.0))
        self.register_buffer("input_resolution", torch.tensor(224))
        self.turned = nn.Parameter(torch.arange(6.0).view(2, 3).T)

    def forward(self, x):
        return self.layers(x) * self.scale + self.turned.sum()


class Bomb:
    def __reduce__(self):
        return print, ("it went off",)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("archives") / "ViT-B-32.pt"
    torch.jit.save(torch.jit.trace(Network().eval(), torch.zeros(1, 4)).half(), path)
    return path


def rewrite(archive, path, name: str, content: bytes):
    """Copy an archive with other content under one name."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.namelist():
            new.writestr(entry, content if entry.endswith(name) else old.read(entry))
    return path


def test_all_tensors_are_found_under_the_names_of_the_state_dict(archive):
    expected = torch.jit.load(archive).state_dict()
    found = read_archive(archive)
    assert found.keys() == expected.keys()
    for name, tensor in found.items():
        assert tensor.dtype == expected[name].dtype
        assert torch.equal(tensor, expected[name]), name


def test_an_archive_is_told_from_a_state_dict_and_from_other_files(archive, tmp_path):
    torch.save({"a": torch.zeros(1)}, tmp_path / "plain.pt")
    (tmp_path / "text.pt").write_text("no zip")
    assert is_archive(archive)
    assert not is_archive(tmp_path / "plain.pt")
    assert not is_archive(tmp_path / "text.pt")


def test_code_in_the_archive_is_not_even_read(archive, tmp_path):
    broken = rewrite(archive, tmp_path / "broken.pt", "code/__torch__.py", b"this is no program")
    assert read_archive(broken).keys() == read_archive(archive).keys()


def test_a_foreign_class_is_named_and_not_run(archive, tmp_path, capsys):
    bomb = rewrite(archive, tmp_path / "bomb.pt", "data.pkl", pickle.dumps(Bomb(), protocol=2))
    with pytest.raises(CounterpartError, match="holds the class __builtin__.print, which no checkpoint needs; it was"):
        read_archive(bomb)
    assert not capsys.readouterr().out


def test_a_truncated_file_is_refused_in_one_line(archive, tmp_path):
    short = tmp_path / "short.pt"
    short.write_bytes(archive.read_bytes()[:2000])
    assert not is_archive(short)
    with pytest.raises(CounterpartError, match="short.pt is no whole TorchScript archive: .* Fetch it again."):
        read_archive(short)


@pytest.mark.parametrize("content", [b"", b"\x80\x02", b"\x80\x02K\x05.", b"garbage"])
def test_a_damaged_tree_is_refused_in_one_line(archive, tmp_path, content):
    damaged = rewrite(archive, tmp_path / "damaged.pt", "data.pkl", content)
    with pytest.raises(CounterpartError, match="damaged.pt .* Fetch it again.") as refused:
        read_archive(damaged)
    assert "\n" not in str(refused.value)


def test_a_tree_that_contains_itself_is_refused(archive, tmp_path):
    # A module whose only part is the module itself, spelled in pickle's opcodes.
    cyclic = b"\x80\x02c__torch__\nNetwork\n)\x81q\x00}X\x04\x00\x00\x00selfh\x00sb."
    damaged = rewrite(archive, tmp_path / "damaged.pt", "data.pkl", cyclic)
    with pytest.raises(CounterpartError, match="is no whole TorchScript archive: maximum recursion depth"):
        read_archive(damaged)


def test_a_tensor_cut_short_is_refused(archive, tmp_path):
    damaged = rewrite(archive, tmp_path / "damaged.pt", "data/1", b"\0\0")
    with pytest.raises(CounterpartError, match="is no whole TorchScript archive"):
        read_archive(damaged)
