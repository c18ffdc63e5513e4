"""Benchmarks of the whole system. Run by scripts/bench; __main__.py lists them."""
