"""One command per benchmark. docs/benchmarks.md has the figures and the hardware."""
