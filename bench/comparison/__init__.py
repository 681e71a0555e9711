"""bench/compare: Weft and its peers measured beside each other; see docs/benchmarks.md."""
