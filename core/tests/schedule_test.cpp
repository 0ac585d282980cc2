#include <middlemark/schedule.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "support/sanitizers.hpp"

namespace middlemark::schedule_test {
namespace {

constexpr std::uint64_t start = 7'000'000'001;
constexpr double nanoseconds = 1e9;           // ticks per second of CLOCK_MONOTONIC
constexpr double counter = 2'596'123'456.75;  // ticks per second of a TSC

Load rate(double hz) {
  Load load;
  load.kind = LoadKind::rate;
  load.rate_hz = hz;
  return load;
}

Load poisson(double hz, std::uint64_t seed) {
  Load load = rate(hz);
  load.arrivals = Arrivals::poisson;
  load.seed = seed;
  return load;
}

Load bursts(std::uint64_t messages, double recovery_s) {
  Load load;
  load.kind = LoadKind::burst;
  load.burst = messages;
  load.recovery_s = recovery_s;
  return load;
}

Schedule started(const Load& load, double ticks_per_second) {
  Schedule schedule(load, ticks_per_second);
  schedule.start(start);
  return schedule;
}

TEST(RecordedSchedule, repeats_its_instants_every_lap_and_knows_how_many_are_due) {
  const std::vector<std::uint64_t> instants{0, 3, 3, 90};
  Load load = rate(4e7);
  load.lap_ns = 100;
  Schedule schedule(load, nanoseconds, instants);
  schedule.start(start);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t instant = start + i / 4 * 100 + instants[i % 4];
    EXPECT_EQ(schedule.next(0), instant);
    EXPECT_EQ(schedule.scheduled_until(instant + 1), i % 4 == 1 ? i + 2 : i + 1)
        << i << ": two are due at the same instant";
    EXPECT_EQ(schedule.scheduled_until(instant), i % 4 == 2 ? i - 1 : i) << i;
  }
  schedule.start(start + 7);
  EXPECT_EQ(schedule.next(0), start + 7) << "start() begins again with the first instant";
}

TEST(PeriodicSchedule, has_its_first_message_at_the_start) {
  EXPECT_EQ(started(rate(1000), nanoseconds).next(start + 5), start);
}

TEST(PeriodicSchedule, does_not_drift_by_a_tick_in_ten_million_messages) {
  const std::uint64_t messages = test::under_a_sanitizer ? 200'000 : 10'000'000;
  for (const std::uint64_t hz : {3U, 7U, 1000U, 44'100U, 99'991U, 1'000'003U}) {
    Schedule schedule = started(rate(static_cast<double>(hz)), nanoseconds);
    for (std::uint64_t i = 0; i < messages; ++i) {
      const unsigned __int128 twice = (static_cast<unsigned __int128>(i) * 2'000'000'000 + hz) / hz;
      ASSERT_EQ(schedule.next(0), start + static_cast<std::uint64_t>(twice / 2)) << hz << " Hz, message " << i;
    }
  }
}

TEST(PeriodicSchedule, holds_a_rate_with_a_fractional_period_for_a_billion_messages) {
  // scheduled_until() counts the instants, so the test need not call next() a billion times.
  const Schedule schedule = started(rate(1000), counter);
  const auto end = start + static_cast<std::uint64_t>(std::llround(1e6L * counter));
  EXPECT_EQ(schedule.scheduled_until(end), 1'000'000'000U);
  EXPECT_EQ(schedule.scheduled_until(end + 1), 1'000'000'001U);
}

TEST(PeriodicSchedule, does_not_delay_messages_after_a_late_one) {
  Schedule punctual = started(rate(12'345), counter);
  Schedule late = started(rate(12'345), counter);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t intended = punctual.next(start);
    EXPECT_EQ(late.next(intended + i * 1'000'000), intended);
  }
}

TEST(PeriodicSchedule, counts_the_instants_before_an_end_exactly) {
  for (const double hz : {1.0, 3.0, 1000.0, 12'345.6, 1e6, 3e9, 1e11}) {
    Schedule schedule = started(rate(hz), counter);
    std::uint64_t before = 0;  // instants before the current one
    std::uint64_t previous = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const std::uint64_t intended = schedule.next(0);
      if (intended != previous) before = i;
      ASSERT_EQ(schedule.scheduled_until(intended), before) << hz << " Hz, message " << i;
      ASSERT_GE(schedule.scheduled_until(intended + 1), i + 1) << hz << " Hz, message " << i;
      if (hz < counter / 2) {
        ASSERT_EQ(schedule.scheduled_until(intended + 1), i + 1) << hz << " Hz, message " << i;
      }
      previous = intended;
    }
  }
}

TEST(PeriodicSchedule, has_nothing_due_before_its_start) {
  const Schedule schedule = started(rate(1000), counter);
  EXPECT_EQ(schedule.scheduled_until(0), 0U);
  EXPECT_EQ(schedule.scheduled_until(start), 0U);
  EXPECT_EQ(schedule.scheduled_until(start + 1), 1U);
}

TEST(PeriodicSchedule, with_more_messages_than_ticks_has_several_per_tick) {
  Schedule schedule = started(rate(4e9), nanoseconds);
  std::vector<std::uint64_t> instants;
  for (int i = 0; i < 8; ++i) instants.push_back(schedule.next(0) - start);
  EXPECT_EQ(instants, (std::vector<std::uint64_t>{0, 0, 1, 1, 1, 1, 2, 2}));
}

TEST(PeriodicSchedule, with_an_extremely_low_rate_does_not_overflow) {
  Schedule schedule = started(rate(1e-300), counter);
  EXPECT_EQ(schedule.next(0), start);
  EXPECT_GT(schedule.next(0), start + (std::uint64_t{1} << 55));
  EXPECT_EQ(schedule.scheduled_until(start + 1000), 1U);
}

TEST(PeriodicSchedule, reports_its_period) {
  EXPECT_EQ(started(rate(1000), nanoseconds).period_ticks(), 1'000'000U);
  EXPECT_EQ(started(poisson(1000, 1), nanoseconds).period_ticks(), 1'000'000U);
  EXPECT_EQ(started(bursts(10, 0.1), nanoseconds).period_ticks(), 0U);
  EXPECT_EQ(started(Load{}, nanoseconds).period_ticks(), 0U);
}

TEST(PoissonSchedule, has_gaps_of_the_exponential_distribution) {
  constexpr std::size_t gaps = 1'000'000;
  constexpr double hz = 10'000;
  constexpr double mean_ticks = counter / hz;
  Schedule schedule = started(poisson(hz, 20'240'607), counter);
  std::uint64_t previous = start;
  double sum = 0;
  double squares = 0;
  double products = 0;  // sum of each gap times the previous gap
  double before = 0;
  std::size_t beyond_mean = 0;
  std::size_t beyond_five = 0;
  for (std::size_t i = 0; i < gaps; ++i) {
    const std::uint64_t intended = schedule.next(0);
    ASSERT_GE(intended, previous);
    const double gap = static_cast<double>(intended - previous) / mean_ticks;
    previous = intended;
    sum += gap;
    squares += (gap - 1) * (gap - 1);
    products += (gap - 1) * (before - 1);
    before = gap;
    beyond_mean += gap > 1 ? 1 : 0;
    beyond_five += gap > 5 ? 1 : 0;
  }
  const double n = gaps;
  constexpr double sigmas = 5;
  EXPECT_NEAR(sum / n, 1, sigmas / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, sigmas * std::sqrt(8 / n));  // the fourth central moment of the distribution is 9
  EXPECT_NEAR(products / n, 0, sigmas / std::sqrt(n));
  const auto expect_share = [n](std::size_t count, double share) {
    EXPECT_NEAR(static_cast<double>(count) / n, share, sigmas * std::sqrt(share * (1 - share) / n));
  };
  expect_share(beyond_mean, std::exp(-1.0));
  expect_share(beyond_five, std::exp(-5.0));
}

TEST(PoissonSchedule, depends_on_the_seed_only) {
  Schedule one = started(poisson(1000, 1), counter);
  Schedule same = started(poisson(1000, 1), counter);
  Schedule other = started(poisson(1000, 2), counter);
  unsigned differ = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t intended = one.next(0);
    EXPECT_EQ(same.next(123), intended);
    differ += other.next(0) != intended ? 1 : 0;
  }
  EXPECT_GT(differ, 990U);
}

TEST(PoissonSchedule, repeats_when_it_is_restarted) {
  Schedule schedule = started(poisson(1000, 1), counter);
  std::vector<std::uint64_t> first;
  for (int i = 0; i < 100; ++i) first.push_back(schedule.next(0));
  schedule.start(start + 1'000'000);
  for (const std::uint64_t intended : first) EXPECT_EQ(schedule.next(0), intended + 1'000'000);
}

TEST(PoissonSchedule, counts_the_instants_before_an_end_without_consuming_them) {
  Schedule schedule = started(poisson(1000, 5), counter);
  Schedule undisturbed = schedule;
  const auto end = start + static_cast<std::uint64_t>(counter);  // a second
  const auto scheduled = schedule.scheduled_until(end);
  std::uint64_t instants = 0;
  for (std::uint64_t intended = schedule.next(0); intended < end; intended = schedule.next(0)) {
    ++instants;
    EXPECT_EQ(intended, undisturbed.next(0));
  }
  EXPECT_EQ(scheduled, instants);
  EXPECT_EQ(schedule.scheduled_until(end), instants);
  EXPECT_NEAR(static_cast<double>(instants), 1000, 5 * std::sqrt(1000.0));
}

TEST(BurstSchedule, sends_a_burst_back_to_back_and_the_next_one_after_the_recovery) {
  Schedule schedule = started(bursts(3, 0.001), nanoseconds);
  std::uint64_t now = start + 50;  // some time after the start
  EXPECT_EQ(schedule.next(now), start) << "there is no pause before the first burst";
  for (int burst = 0; burst < 5; ++burst) {
    for (int message = 1; message < 3; ++message) {
      now += 700;
      EXPECT_EQ(schedule.next(now), now) << "message " << message << " of burst " << burst;
    }
    now += 700;
    const std::uint64_t intended = schedule.next(now);
    EXPECT_EQ(intended, now + 1'000'000) << "after burst " << burst;
    now = intended;
  }
}

TEST(BurstSchedule, of_one_message_recovers_after_each) {
  Schedule schedule = started(bursts(1, 0.5), nanoseconds);
  EXPECT_EQ(schedule.next(start), start);
  EXPECT_EQ(schedule.next(start + 40), start + 500'000'040);
  EXPECT_EQ(schedule.next(start + 600'000'000), start + 1'100'000'000);
}

TEST(BurstSchedule, without_recovery_is_as_fast_as_possible) {
  Schedule schedule = started(bursts(10, 0), nanoseconds);
  EXPECT_EQ(schedule.next(start), start);
  for (std::uint64_t now = start + 1; now < start + 100; ++now) EXPECT_EQ(schedule.next(now), now);
}

TEST(BurstSchedule, begins_with_a_whole_burst_when_it_is_started_again) {
  Schedule schedule = started(bursts(3, 0.001), nanoseconds);
  static_cast<void>(schedule.next(start));
  static_cast<void>(schedule.next(start + 10));
  schedule.start(start + 100);
  EXPECT_EQ(schedule.next(start + 110), start + 100);
  EXPECT_EQ(schedule.next(start + 120), start + 120);
  EXPECT_EQ(schedule.next(start + 130), start + 130);
  EXPECT_EQ(schedule.next(start + 140), start + 1'000'140);
}

TEST(MaxSchedule, is_always_due_now) {
  Schedule schedule = started(Load{}, nanoseconds);
  for (std::uint64_t now = start; now < start + 1000; now += 10) EXPECT_EQ(schedule.next(now), now);
}

TEST(Schedule, of_max_and_bursts_has_no_number_of_scheduled_messages) {
  EXPECT_EQ(started(Load{}, nanoseconds).scheduled_until(start + 1000), std::nullopt);
  EXPECT_EQ(started(bursts(10, 0.1), nanoseconds).scheduled_until(start + 1000), std::nullopt);
}

}  // namespace
}  // namespace middlemark::schedule_test
