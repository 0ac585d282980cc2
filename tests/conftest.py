"""Settings for all tests. Hypothesis has no deadline, because a busy machine would exceed it."""

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
