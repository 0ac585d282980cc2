"""The machine: what of it limits a middleware, and how a limit is lifted and put back."""
