"""Statistics of crowd judgments and of the models that they measure: arrays and data frames in and out.

Each module stands for itself; nothing is imported before it is needed.
"""
