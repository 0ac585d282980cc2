"""The machine: which settings limit a middleware, and how a setting is changed and restored."""
