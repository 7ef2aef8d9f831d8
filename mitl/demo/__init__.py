"""The demo's machines: the five of ECCV Caption, of the same make as those of the papers, made small by settings."""

from mitl.demo.machines import MACHINES, add_demo_machines

__all__ = ["MACHINES", "add_demo_machines"]
