"""The machine: which of its settings limit a middleware, and how a setting is changed and restored."""
