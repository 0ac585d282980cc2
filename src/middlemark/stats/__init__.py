"""Statistics: from samples to quantiles, comparisons, verdicts and warnings."""
