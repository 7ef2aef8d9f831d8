"""How simulated workers get their HITs: directly, through our pages, or at a platform's emulator."""
