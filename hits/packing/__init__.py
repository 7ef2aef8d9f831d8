"""Designs of HITs, packing pairs into them and dealing gold controls: arrays in and out, no Django."""
