"""Packing pairs into HITs and dealing gold controls: arrays in and out, no Django."""
