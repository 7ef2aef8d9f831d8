"""What the classical machines, ``nn`` and ``kcca``, share: their options, and how they read pictures and captions."""
