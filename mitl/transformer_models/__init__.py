"""Networks that the library transformers has: published files read, names converted, words cut into pieces.

A module a network (``clip``, ``siglip``, ``vilt``, ``blip``) tells its sizes and names. Everything works offline; no
Django here.
"""
