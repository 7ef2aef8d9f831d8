"""The judging page inside a platform's frame: no cookie, no script from elsewhere, and nothing believed of its address.

What the platform adds to the address are claims. They open a turn at a posted HIT; every later page carries a signed
token of that turn. Only what the platform itself lists makes an assignment of it.
"""
