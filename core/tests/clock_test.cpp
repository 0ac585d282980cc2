#include <middlemark/clock.hpp>

#include <chrono>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace middlemark::clock_test {
namespace {

using namespace std::chrono_literals;

/// The largest relative difference between two clocks that adjtime and a short calibration can cause. A wrong
/// conversion causes a far larger one.
constexpr double tolerated = 2000e-6;

class EveryClock : public testing::TestWithParam<bool> {
 protected:
  const Clock clock = Clock::calibrate(20, GetParam());
};

TEST_P(EveryClock, never_goes_backwards_over_a_million_readings) {
  std::uint64_t previous = clock.ticks();
  std::uint64_t backwards = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t now = clock.ticks();
    backwards += now < previous ? 1 : 0;
    previous = now;
  }
  EXPECT_EQ(backwards, 0U);
}

TEST_P(EveryClock, an_early_reading_lies_between_the_ordered_readings_around_it) {
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t before = clock.ticks();
    const std::uint64_t early = clock.early_ticks();
    const std::uint64_t after = clock.ticks();
    ASSERT_LE(before, early);
    ASSERT_LE(early, after);
  }
}

TEST_P(EveryClock, advances_during_a_sleep) {
  const std::uint64_t before = clock.ticks();
  std::this_thread::sleep_for(2ms);
  EXPECT_GE(clock.to_ns(clock.ticks() - before), 1'900'000U);
}

TEST_P(EveryClock, measures_the_same_span_as_the_monotonic_clock) {
  // Read the other clock before and after each reading. An interruption then only widens the bounds.
  const std::uint64_t begin_before = monotonic_ns();
  const std::uint64_t begin = clock.ticks();
  const std::uint64_t begin_after = monotonic_ns();
  std::this_thread::sleep_for(60ms);
  const std::uint64_t end_before = monotonic_ns();
  const std::uint64_t end = clock.ticks();
  const std::uint64_t end_after = monotonic_ns();
  const auto span = static_cast<double>(clock.to_ns(end - begin));
  EXPECT_GE(span, static_cast<double>(end_before - begin_after) * (1 - tolerated));
  EXPECT_LE(span, static_cast<double>(end_after - begin_before) * (1 + tolerated));
}

TEST_P(EveryClock, converts_a_reading_to_monotonic_time) {
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t before = monotonic_ns();
    const std::uint64_t at = clock.ticks();
    const std::uint64_t after = monotonic_ns();
    constexpr std::uint64_t bound = 200'000;  // allows for the error of the calibration and for adjtime
    EXPECT_GE(clock.to_monotonic_ns(at) + bound, before);
    EXPECT_LE(clock.to_monotonic_ns(at), after + bound);
  }
}

TEST_P(EveryClock, converts_a_reading_from_before_its_calibration) {
  const std::uint64_t now = clock.ticks();
  const std::uint64_t ten_seconds = clock.to_ticks(10'000'000'000);
  const auto then = static_cast<double>(clock.to_monotonic_ns(now - ten_seconds));
  EXPECT_NEAR(static_cast<double>(clock.to_monotonic_ns(now)) - then, 10e9, 10);
}

TEST_P(EveryClock, converts_to_ticks_and_back) {
  for (const std::uint64_t ns :
       {0ULL, 1'000ULL, 1'000'000ULL, 1'000'000'000ULL, 3'600'000'000'000ULL, 86'400'000'000'000ULL}) {
    const auto back = static_cast<double>(clock.to_ns(clock.to_ticks(ns)));
    const double one_tick_ns = 1e9 / clock.ticks_per_second();
    EXPECT_NEAR(back, static_cast<double>(ns), 1 + one_tick_ns + static_cast<double>(ns) * 1e-9) << ns << " ns";
  }
}

TEST_P(EveryClock, reports_its_cost_and_its_resolution) {
  EXPECT_GT(clock.cost_ns(), 0);
  EXPECT_GT(clock.resolution_ns(), 0);
  EXPECT_TRUE(std::isfinite(clock.cost_ns()));
  EXPECT_GT(clock.ticks_per_second(), 1e6);
}

TEST_P(EveryClock, a_copy_reads_the_same_time) {
  const Clock copy = clock;
  const std::uint64_t before = clock.ticks();
  const std::uint64_t between = copy.ticks();
  EXPECT_LE(before, between);
  EXPECT_LE(between, clock.ticks());
  EXPECT_EQ(copy.to_ns(123'456'789), clock.to_ns(123'456'789));
}

INSTANTIATE_TEST_SUITE_P(Clock, EveryClock, testing::Values(false, true),
                         [](const auto& parameter) { return parameter.param ? "monotonic" : "chosen"; });

TEST(Clock, forced_to_the_monotonic_clock_counts_nanoseconds) {
  const Clock clock = Clock::calibrate(1, true);
  EXPECT_EQ(clock.source(), ClockSource::monotonic);
  EXPECT_EQ(clock.source_name(), "clock_monotonic");
  EXPECT_EQ(clock.ticks_per_second(), 1e9);
  EXPECT_EQ(clock.to_ns(1'234'567'890'123), 1'234'567'890'123U);
  EXPECT_EQ(clock.to_ticks(1'234'567'890'123), 1'234'567'890'123U);
  const std::uint64_t before = monotonic_ns();
  const std::uint64_t at = clock.ticks();
  EXPECT_LE(before, at);
  EXPECT_LE(at, monotonic_ns());
  EXPECT_EQ(clock.to_monotonic_ns(at), at);
}

TEST(Clock, uses_the_counter_that_the_kernel_uses) {
  const Clock clock = Clock::calibrate(1, false);
#if defined(__x86_64__)
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string kernels;
  file >> kernels;
  if (kernels != "tsc") {
    EXPECT_EQ(clock.source_name(), "clock_monotonic") << "the kernel's clock is " << kernels;
  } else if (clock.source() != ClockSource::tsc) {
    GTEST_SKIP() << "this processor's TSC is not invariant";
  } else {
    EXPECT_EQ(clock.source_name(), "tsc");
  }
#elif defined(__aarch64__)
  EXPECT_EQ(clock.source_name(), "cntvct");
#else
  EXPECT_EQ(clock.source_name(), "clock_monotonic");
#endif
}

TEST(Clock, the_shortest_calibration_is_a_millisecond) {
  const Clock clock = Clock::calibrate(0, false);
  EXPECT_GT(clock.ticks_per_second(), 1e6);
}

}  // namespace
}  // namespace middlemark::clock_test
