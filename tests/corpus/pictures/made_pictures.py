"""Small pictures of one colour in unusual forms: bit depths, colour profiles, gamma, transparency."""

import struct
import zlib
from io import BytesIO

from PIL import Image as Pillow

SIZE = (8, 8)
PRIMARIES = {  # of Adobe RGB (1998), for D50
    b"rXYZ": (0.60974, 0.31111, 0.01947),
    b"gXYZ": (0.20528, 0.62567, 0.06087),
    b"bXYZ": (0.14919, 0.06322, 0.74457),
}


def encoded(image: Pillow.Image, format: str = "PNG", **options) -> bytes:
    buffer = BytesIO()
    image.save(buffer, format, **options)
    return buffer.getvalue()


def flat(mode: str, colour: object) -> Pillow.Image:
    return Pillow.new(mode, SIZE, colour)


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(depth: int, colour_type: int, *pixel: int, extra: bytes = b"") -> bytes:
    """A PNG of 8 or 16 bits with this value of each channel in each pixel, and further chunks."""
    head = struct.pack(">IIBBBBB", *SIZE, depth, colour_type, 0, 0, 0)
    row = b"\0" + struct.pack(f">{len(pixel)}{'H' if depth == 16 else 'B'}", *pixel) * SIZE[0]
    body = chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(row * SIZE[1])) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def icc(space: bytes, *curves: bytes, gamma: float, primaries: dict = {}) -> bytes:  # noqa: B006
    """A colour profile of version 2 with a power curve for each channel."""
    curve = b"curv\0\0\0\0" + struct.pack(">IHxx", 1, round(gamma * 256))
    white = {b"wtpt": (0.9642, 1, 0.8249)} | primaries
    points = {name: b"XYZ \0\0\0\0" + _fixed(*values) for name, values in white.items()}
    name = b"desc\0\0\0\0" + struct.pack(">I", 2) + b"x\0" + b"\0" * 78
    tags = {b"desc": name, b"cprt": b"text\0\0\0\0x\0\0\0"} | points | dict.fromkeys(curves, curve)
    table, body, start = struct.pack(">I", len(tags)), b"", 132 + 12 * len(tags)
    for tag, content in tags.items():
        table += tag + struct.pack(">II", start + len(body), len(content))
        body += content
    head = struct.pack(">I4xI4s4s4s", start + len(body), 0x02400000, b"mntr", space, b"XYZ ")
    head += struct.pack(">6H4s28x", 2020, 1, 1, 0, 0, 0, b"acsp") + _fixed(0.9642, 1, 0.8249)
    return head.ljust(128, b"\0") + table + body


def _fixed(*values: float) -> bytes:
    return struct.pack(f">{len(values)}i", *(round(value * 65536) for value in values))


ADOBE = icc(b"RGB ", b"rTRC", b"gTRC", b"bTRC", gamma=2.2, primaries=PRIMARIES)
LINEAR_GREY = icc(b"GRAY", b"kTRC", gamma=1.0)
BROWN = (200, 100, 50)


def gamma(value: float) -> bytes:
    return chunk(b"gAMA", struct.pack(">I", round(value * 100_000)))


# Each with the colour that a browser shows on white. 168 is the sRGB value of 100 of 255 parts of light.
PICTURES = {
    "16 bits of grey": (png(16, 0, 32_896), (128, 128, 128)),
    "16 bits of grey, one transparent": (
        png(16, 0, 32_896, extra=chunk(b"tRNS", struct.pack(">H", 32_896))),
        (255, 255, 255),
    ),
    "16 bits of grey, another transparent": (
        png(16, 0, 32_896, extra=chunk(b"tRNS", struct.pack(">H", 32_897))),
        (128, 128, 128),
    ),
    "16 bits of grey and alpha": (png(16, 4, 0, 0x8080), (127, 127, 127)),
    "16 bits of colour": (png(16, 2, 60_000, 30_000, 128), (234, 117, 0)),
    "16 bits of colour, transparent": (
        png(16, 2, 60_000, 30_000, 128, extra=chunk(b"tRNS", struct.pack(">3H", 60_000, 30_000, 128))),
        (255, 255, 255),
    ),
    "1 bit": (encoded(flat("1", 1)), (255, 255, 255)),
    "Adobe RGB in PNG": (encoded(flat("RGB", BROWN), icc_profile=ADOBE), (227, 100, 42)),
    "Adobe RGB in JPEG": (encoded(flat("RGB", BROWN), "JPEG", icc_profile=ADOBE, quality=100), (227, 100, 42)),
    "Adobe RGB in WebP": (encoded(flat("RGB", BROWN), "WEBP", icc_profile=ADOBE, lossless=True), (227, 100, 42)),
    "Adobe RGB in a palette": (encoded(flat("RGB", BROWN).quantize(4), icc_profile=ADOBE), (227, 100, 42)),
    "Adobe RGB with alpha 0": (encoded(flat("RGBA", (*BROWN, 0)), icc_profile=ADOBE), (255, 255, 255)),
    "linear grey": (encoded(flat("L", 100), icc_profile=LINEAR_GREY), (168, 168, 168)),
    "linear 16 bits of grey": (
        png(16, 0, 25_700, extra=chunk(b"iCCP", b"x\0\0" + zlib.compress(LINEAR_GREY))),
        (168, 168, 168),
    ),
    "grey with a profile of colours": (encoded(flat("L", 100), icc_profile=ADOBE), (100, 100, 100)),
    "colours with a profile of grey": (encoded(flat("RGB", BROWN), icc_profile=LINEAR_GREY), BROWN),
    "a profile that is none": (encoded(flat("RGB", BROWN), icc_profile=b"junk" * 50), BROWN),
    "gamma 1": (png(8, 0, 100, extra=gamma(1)), (168, 168, 168)),
    "gamma 1 / 2.2": (png(8, 2, *BROWN, extra=gamma(0.45455)), BROWN),
    "gamma 1 and a profile": (
        png(8, 2, *BROWN, extra=gamma(1) + chunk(b"iCCP", b"x\0\0" + zlib.compress(ADOBE))),
        (227, 100, 42),
    ),
    "gamma 1 and sRGB": (png(8, 2, *BROWN, extra=gamma(1) + chunk(b"sRGB", b"\0")), BROWN),
    "CMYK": (encoded(flat("CMYK", (50, 100, 150, 30)), "JPEG", quality=100), (181, 137, 93)),
    "CMYK with a profile of colours": (
        encoded(flat("CMYK", (50, 100, 150, 30)), "JPEG", quality=100, icc_profile=ADOBE),
        (181, 137, 93),
    ),
}
