"""Every statement of who wins, by how much and how sure: computed from the comparisons of a run, once. Pure."""
