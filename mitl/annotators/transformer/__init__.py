"""What machines over networks of transformers share: two towers (``clip``, ``siglip``), pairs (``vilt``, ``blip``)."""
