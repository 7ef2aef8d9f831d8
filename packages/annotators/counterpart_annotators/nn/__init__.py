"""Torch parts that several annotators share: trunks and layers, words and pictures as tensors, files of weights."""
