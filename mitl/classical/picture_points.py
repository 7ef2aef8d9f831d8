"""What is measured at the points of a picture: colour, texture, and SIFT descriptors (section 3.3.1)."""

from collections.abc import Callable
from functools import cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Values = NDArray[np.float32]
SIGMAS = 1.0, 3.0  # across and along an edge, in pixels: the finest scale of Varma and Zisserman's filters
ANGLES = 6
REACH = 8  # pixels from a filter's centre to its rim
STRIDE, BIN = 8, 4.0  # pixels between SIFT descriptors, and the side of each of their 4 x 4 cells
SIZE_OF_BIN = 2 / 3  # OpenCV's cells are 1.5 times a keypoint's size


def colour(picture: Picture) -> tuple[Values, Values]:
    """Every pixel's CIELAB coordinates: values (n, 3) and places (n, 2).

    Like all features here it takes RGB (height, width, 3) and tells where each value stands: row and column as shares
    of the height and the width, from 0 to below 1.
    """
    lab = np.asarray(cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), dtype=np.float32)
    return lab.reshape(-1, 3), _every_pixel(picture)


def texture(picture: Picture) -> tuple[Values, Values]:
    """How strongly every pixel lies on an edge, and on a bar, at six angles: values (n, 12)."""
    grey = _grey(picture).astype(np.float32) / 255
    responses = [cv2.filter2D(grey, cv2.CV_32F, bank, borderType=cv2.BORDER_REFLECT) for bank in _filters()]
    values = np.stack(responses, axis=2).reshape(-1, len(responses)).astype(np.float32)
    return values, _every_pixel(picture)


def sift(picture: Picture) -> tuple[Values, Values]:
    """Upright SIFT descriptors of 16 x 16 pixels, every 8 pixels: values (n, 128), of length 1 or, on even ground, 0.

    Histograms of the gradient do not fit into less than 16 pixels; where a side is shorter, it is stretched.
    """
    height, width = (max(side, 2 * STRIDE) for side in picture.shape[:2])
    grey = cv2.resize(_grey(picture), (width, height), interpolation=cv2.INTER_LINEAR)
    rows, columns = (np.arange(STRIDE, side - STRIDE + 1, STRIDE, dtype=np.float32) for side in (height, width))
    at = [cv2.KeyPoint(float(x), float(y), BIN * SIZE_OF_BIN, 0.0) for y in rows for x in columns]
    _, descriptors = cv2.SIFT.create().compute(grey, at)
    lengths = np.linalg.norm(descriptors, axis=1, keepdims=True)
    values = np.divide(descriptors, lengths, out=np.zeros_like(descriptors), where=lengths > 0)
    places = np.array([(y / height, x / width) for y in rows for x in columns], dtype=np.float32)
    return values, places


FEATURES: dict[str, Callable[[Picture], tuple[Values, Values]]] = {"colour": colour, "texture": texture, "sift": sift}


def _grey(picture: Picture) -> Any:
    return cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)


def _every_pixel(picture: Picture) -> Values:
    height, width = picture.shape[:2]
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    return np.stack([rows.ravel() / height, columns.ravel() / width], axis=1)


@cache
def _filters() -> list[Values]:
    """First and second derivatives of an elongated Gaussian at each angle, of mean 0 and absolute sum 1."""
    y, x = np.mgrid[-REACH : REACH + 1, -REACH : REACH + 1].astype(np.float32)
    across_sigma, along_sigma = SIGMAS
    bank = []
    for angle in np.arange(ANGLES) * np.pi / ANGLES:
        across = np.cos(angle) * x + np.sin(angle) * y
        along = np.cos(angle) * y - np.sin(angle) * x
        bell = np.exp(-(across**2) / (2 * across_sigma**2) - along**2 / (2 * along_sigma**2))
        for derivative in (across * bell, (across**2 / across_sigma**2 - 1) * bell):
            centred = derivative - derivative.mean()
            bank.append((centred / np.abs(centred).sum()).astype(np.float32))
    return bank
