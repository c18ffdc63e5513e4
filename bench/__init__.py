"""Benchmarks of the whole system. scripts/bench is the way in; __main__.py says which there are."""
