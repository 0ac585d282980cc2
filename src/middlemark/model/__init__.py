"""The values that everybody speaks of, frozen. They import nothing else of ours."""
