"""Workers: who they are, what they may take, what is told them, and how they are forgotten."""
