"""Statistics of crowd judgments and of the models that they measure: arrays and data frames in and out.

Modules are independent; nothing is imported before it is needed.
"""
