"""From a pool to a packed round: designs, gold controls, which pair stands in which HIT."""
