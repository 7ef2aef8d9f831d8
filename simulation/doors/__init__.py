"""How simulated workers get their HITs: directly (intake), through our pages, or at a platform's emulator."""
