"""Frozen values that every other package uses. This package imports no other package of Middlemark."""
