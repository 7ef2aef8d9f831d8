"""Models that match images and captions: load a checkpoint, train, encode, score. Nothing here knows a site."""
