"""The machine: settings that limit a middleware, and how they are changed and restored."""
