"""For all tests: no example of a property is timed, because speed is a benchmark's business and machines are busy."""

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
