"""Settings for all tests: hypothesis has no deadline, because speed is for benchmarks and machines are busy."""

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
