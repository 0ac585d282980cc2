"""Settings for all tests. Hypothesis has no deadline, because machines are busy and only benchmarks measure speed."""

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
