"""The colours that captions name, and a few that every picture shares."""

from demo.drawing.brush import Colour

NAMED: dict[str, Colour] = {
    "red": (222, 56, 52),
    "orange": (240, 138, 48),
    "yellow": (252, 205, 50),
    "green": (56, 158, 84),
    "blue": (48, 112, 214),
    "pink": (246, 132, 176),
    "brown": (148, 94, 56),
    "black": (56, 53, 64),
    "gray": (148, 153, 166),
    "white": (250, 247, 240),
}
INK: Colour = (44, 36, 48)
CREAM: Colour = (255, 250, 236)
BLUSH: Colour = (240, 128, 128)
BEAK: Colour = (246, 158, 44)
GLASS: Colour = (196, 230, 244)
STEEL: Colour = (190, 196, 206)
TYRE: Colour = (58, 56, 66)
LEAF: Colour = (86, 158, 74)
WOOD: Colour = (156, 108, 68)
