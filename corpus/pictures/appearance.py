"""How a decoded picture looks: upright and in 8-bit sRGB on white, as a browser shows it."""

from collections.abc import Mapping
from io import BytesIO
from math import isclose
from typing import Any

import numpy as np
from PIL import Image as Pillow
from PIL import ImageCms

ORIENTATION_TAG = 0x0112
# What each EXIF orientation other than 1 takes to be upright.
TURNS = {
    2: Pillow.Transpose.FLIP_LEFT_RIGHT,
    3: Pillow.Transpose.ROTATE_180,
    4: Pillow.Transpose.FLIP_TOP_BOTTOM,
    5: Pillow.Transpose.TRANSPOSE,
    6: Pillow.Transpose.ROTATE_270,
    7: Pillow.Transpose.TRANSVERSE,
    8: Pillow.Transpose.ROTATE_90,
}
SIDEWAYS = (5, 6, 7, 8)  # orientations that swap width and height
USUAL_GAMMA = 1 / 2.2  # in a PNG it means sRGB
SPACES = {"L": "GRAY", "RGB": "RGB", "CMYK": "CMYK"}  # the colour space of the profiles that fit a mode


def orientation(picture: Pillow.Image) -> int:
    """Return the EXIF orientation, 1 to 8; 1 where there is none, or EXIF that cannot be read."""
    try:
        value = int(picture.getexif().get(ORIENTATION_TAG, 1))
    except Exception:  # Pillow's parsers raise many kinds of errors for malformed EXIF
        return 1
    return value if value in TURNS else 1


def appearance(picture: Pillow.Image) -> Pillow.Image:
    """Return the loaded picture as a browser shows it: upright, RGB, transparent parts on white.

    Grey of more than 8 bits, or of real numbers, is scaled to 8. Colours with a profile (ICC) that fits the picture, or
    with a PNG's gamma, are converted to sRGB; a malformed profile, or one of another colour space, is ignored.
    """
    turn = TURNS.get(orientation(picture))
    eight_bits = _in_eight_bits(picture)
    colours = _in_srgb(eight_bits, picture.info)
    if eight_bits.has_transparency_data:
        colours.putalpha(eight_bits.convert("RGBA").getchannel("A"))
        colours = Pillow.alpha_composite(Pillow.new("RGBA", colours.size, "white"), colours).convert("RGB")
    return colours.transpose(turn) if turn is not None else colours


def _in_eight_bits(picture: Pillow.Image) -> Pillow.Image:
    """Return 16 bits of grey as 8, which Pillow's conversion would clip, and a transparent 16-bit colour as one of the
    8 bits that Pillow has reduced the others to."""
    transparent = picture.info.get("transparency")
    if picture.mode.startswith(("I", "F")):
        grey = np.asarray(picture).astype(np.float64)
        white = _white(picture, float(grey.max(initial=0, where=np.isfinite(grey))))
        grey = np.nan_to_num(grey, posinf=white).clip(0)
        scaled = Pillow.fromarray((grey / white * 255 + 0.5).astype(np.uint8))
        if transparent is not None:
            scaled.putalpha(Pillow.fromarray(np.where(grey == transparent, 0, 255).astype(np.uint8)))
        return scaled
    if picture.mode == "RGB" and isinstance(transparent, tuple) and max(transparent) > 255:
        picture.info["transparency"] = tuple(value >> 8 for value in transparent)
    return picture


def _white(picture: Pillow.Image, brightest: float) -> float:
    """Return the value of white: that of 16 bits, or of the least range that holds all values where these may be real
    numbers, or whole ones of 32 bits."""
    ranges = (1, 255, 65535) if picture.mode == "F" else (255, 65535) if picture.format == "TIFF" else (65535,)
    known = ranges if picture.mode in ("I", "F") else (65535,)
    return next((white for white in known if brightest <= white), brightest)


def _in_srgb(picture: Pillow.Image, info: Mapping[Any, Any]) -> Pillow.Image:
    """Return the colours of the picture, without transparency, in sRGB."""
    grey = picture.mode in ("1", "L", "LA")
    colours = picture.convert("L" if grey else "CMYK" if picture.mode == "CMYK" else "RGB")
    profile = info.get("icc_profile")
    gamma = info.get("gamma")
    if profile:
        converted = _converted(colours, profile)
        return colours.convert("RGB") if converted is None else converted
    if isinstance(gamma, float) and gamma > 0 and not isclose(gamma, USUAL_GAMMA, abs_tol=0.01) and "srgb" not in info:
        return colours.convert("RGB").point(_curve(gamma) * 3)
    return colours.convert("RGB")


def _converted(colours: Pillow.Image, profile: bytes) -> Pillow.Image | None:
    """Convert by an ICC profile; None where it is malformed or of another colour space."""
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(profile))
        if source.profile.xcolor_space.strip() != SPACES[colours.mode]:
            return None
        intent = ImageCms.Intent.RELATIVE_COLORIMETRIC  # browsers move no black point
        return ImageCms.profileToProfile(colours, source, ImageCms.createProfile("sRGB"), intent, "RGB")
    except (OSError, TypeError, ImageCms.PyCMSError):
        return None


def _curve(gamma: float) -> list[int]:
    """Return the sRGB value of each of 256 values of a PNG whose gAMA chunk says this."""
    light = (np.arange(256) / 255) ** (1 / gamma)
    encoded = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return [int(value) for value in np.rint(255 * encoded)]
