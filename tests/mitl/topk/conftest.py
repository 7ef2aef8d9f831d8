import pytest

from tests.mitl.topk.first_passes import FIRST_PASSES, take_first


@pytest.fixture(params=FIRST_PASSES)
def first_pass(request, monkeypatch):
    """Take each first pass, whatever this machine would choose."""
    take_first(request.param, monkeypatch)
    return request.param
