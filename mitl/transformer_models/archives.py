"""The tensors of a TorchScript archive, read without running the code inside it.

OpenAI publishes CLIP as such archives. ``torch.jit.load`` would compile and run the program that the file brings
along; here only its pickled tree of modules is read, by an unpickler that can make nothing but trees and tensors.
"""

import pickle
from collections import OrderedDict
from pathlib import Path
from zipfile import BadZipFile, ZipFile, is_zipfile

import torch
from torch import Tensor

from core.errors import CounterpartError

_TYPES = {
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "FloatStorage": torch.float32,
    "DoubleStorage": torch.float64,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "BoolStorage": torch.bool,
}

# What zipfile, pickle and torch raise on broken bytes.
_BROKEN = (
    pickle.UnpicklingError, BadZipFile, KeyError, IndexError, EOFError, OSError, ValueError, TypeError, RuntimeError,
    AttributeError,
)  # fmt: skip


def is_archive(path: Path) -> bool:
    """Whether a file is a TorchScript archive: a zip that holds code beside its tensors."""
    if not is_zipfile(path):
        return False
    with ZipFile(path) as archive:
        return any(name.partition("/")[2].startswith("code/") for name in archive.namelist())


def read_archive(path: Path) -> dict[str, Tensor]:
    """Return all tensors of the archive by their place in its tree of modules, as a state dict names them.

    Raises CounterpartError for a file that is cut short or damaged, or holds anything but modules and tensors.
    """
    try:
        with ZipFile(path) as archive:
            prefix = archive.namelist()[0].partition("/")[0]
            with archive.open(f"{prefix}/data.pkl") as pickled:
                tensors = dict(_tensors_of(_Unpickler(pickled, archive, prefix).load(), ""))
    except _ForeignError as error:
        raise CounterpartError(f"{path} holds {error}, which no checkpoint needs; it was not read.") from None
    except _BROKEN as error:
        raise CounterpartError(f"{path} is no whole TorchScript archive: {error}. Fetch it again.") from error
    if not tensors:
        raise CounterpartError(f"{path} holds no tensors. Fetch it again.")
    return tensors


class _ForeignError(Exception):
    """The pickle names a class that is neither a module's nor a tensor's."""


class _Module:
    """Stands for a module of any class of the archive's own; what the class would do is not known here."""

    def __init__(self) -> None:
        self.parts: dict[str, object] = {}

    def __new__(cls, *_: object) -> "_Module":
        module = super().__new__(cls)
        module.parts = {}
        return module

    def __setstate__(self, parts: object) -> None:
        self.parts = parts if isinstance(parts, dict) else {}


class _Unpickler(pickle.Unpickler):
    def __init__(self, pickled: object, archive: ZipFile, prefix: str) -> None:
        super().__init__(pickled)  # type: ignore[arg-type]  # any file to read bytes from
        self._archive, self._prefix = archive, prefix
        self._storages: dict[str, Tensor] = {}

    def find_class(self, module: str, name: str) -> object:
        if module.partition(".")[0] == "__torch__":
            return _Module
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch" and name in _TYPES:
            return name
        if module == "torch.jit._pickle":
            return _first
        raise _ForeignError(f"the class {module}.{name}")

    def persistent_load(self, place: tuple[str, str, str, str, int]) -> Tensor:
        """Return the flat storage that a tensor is a view of."""
        _, kind, key, _, count = place
        if key not in self._storages:
            content = bytearray(self._archive.read(f"{self._prefix}/data/{key}"))
            empty = torch.empty(0, dtype=_TYPES[kind])
            self._storages[key] = torch.frombuffer(content, dtype=_TYPES[kind], count=count) if count else empty
        return self._storages[key]


def _rebuild(storage: Tensor, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: object) -> Tensor:
    return storage.as_strided(size, stride, offset)


def _first(items: object, *_: object) -> object:
    """Lists that TorchScript tags with their type are the lists."""
    return items


def _tensors_of(tree: object, place: str) -> list[tuple[str, Tensor]]:
    if isinstance(tree, Tensor):
        return [(place, tree)]
    if not isinstance(tree, _Module):
        return []
    return [
        found for name, part in tree.parts.items() for found in _tensors_of(part, f"{place}.{name}" if place else name)
    ]
