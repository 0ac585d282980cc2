"""The machine: which of its settings limit a middleware, and how to change a setting and restore it."""
