"""One command a benchmark. docs/benchmarks.md has the figures and the machine they were taken on."""
