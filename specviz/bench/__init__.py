"""Repeats races and sums them up: the family's report, and the comparison with transformers."""
