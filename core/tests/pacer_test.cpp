#include <middlemark/pacer.hpp>

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

namespace middlemark::pacer_test {
namespace {

using namespace std::chrono_literals;

const Clock& calibrated() {
  static const Clock clock = Clock::calibrate(20, false);
  return clock;
}

Load rate(double hz) {
  Load load;
  load.kind = LoadKind::rate;
  load.rate_hz = hz;
  return load;
}

long voluntary_switches() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

/// Tests for pacers that spin (parameter true) and for pacers that sleep (false).
class EveryPacer : public testing::TestWithParam<bool> {
 protected:
  Pacer pacer(const Load& load) const { return {clock, load, GetParam()}; }

  const Clock clock = calibrated();
  StopSignal stop;
};

TEST_P(EveryPacer, never_returns_before_the_instant) {
  for (const Arrivals arrivals : {Arrivals::periodic, Arrivals::poisson}) {
    Load load = rate(3000);
    load.arrivals = arrivals;
    Pacer pacer = this->pacer(load);
    pacer.start(clock.ticks());
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t intended = pacer.next();
      ASSERT_TRUE(pacer.wait(intended, stop));
      ASSERT_GE(clock.ticks(), intended);
    }
  }
}

TEST_P(EveryPacer, waits_for_any_instant) {
  Pacer pacer = this->pacer(rate(1));
  pacer.start(clock.ticks());
  const std::uint64_t end = clock.ticks() + clock.to_ticks(3'000'000);
  EXPECT_TRUE(pacer.wait(end, stop));
  EXPECT_GE(clock.ticks(), end);
}

TEST_P(EveryPacer, does_not_wait_for_an_instant_that_has_passed) {
  Pacer pacer = this->pacer(rate(1000));
  pacer.start(clock.ticks());
  const long switches = voluntary_switches();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(pacer.wait(clock.ticks(), stop));
  EXPECT_TRUE(pacer.wait(0, stop));
  EXPECT_EQ(pacer.pacing_ticks(), 0U);
  EXPECT_EQ(pacer.sleeping_ticks(), 0U);
  EXPECT_EQ(voluntary_switches(), switches);
}

TEST_P(EveryPacer, catches_up_after_a_stall_without_moving_the_schedule) {
  Pacer pacer = this->pacer(rate(10'000));
  const std::uint64_t start = clock.ticks();
  const std::uint64_t stall_end = start + clock.to_ticks(20'000'000);
  pacer.start(start);
  while (clock.ticks() < stall_end) {
  }
  const std::uint64_t overdue = *pacer.scheduled_until(stall_end);
  EXPECT_EQ(overdue, 200U);
  const long switches = voluntary_switches();
  std::uint64_t intended = 0;
  for (std::uint64_t i = 0; i < overdue; ++i) {
    intended = pacer.next();
    EXPECT_LT(intended, stall_end);
    EXPECT_TRUE(pacer.wait(intended, stop));
  }
  EXPECT_EQ(voluntary_switches(), switches) << "the pacer slept although all instants had passed";
  EXPECT_GE(pacer.next(), stall_end);
}

TEST_P(EveryPacer, ends_a_long_wait_when_stop_is_requested) {
  Pacer pacer = this->pacer(rate(1));
  pacer.start(clock.ticks());
  const std::uint64_t in_an_hour = clock.ticks() + clock.to_ticks(3'600'000'000'000);
  std::thread stopping([this] {
    std::this_thread::sleep_for(20ms);
    stop.request();
  });
  EXPECT_FALSE(pacer.wait(in_an_hour, stop));
  EXPECT_LT(clock.ticks(), in_an_hour);
  stopping.join();
}

TEST_P(EveryPacer, reports_a_stop_before_and_after_the_instant) {
  Pacer pacer = this->pacer(rate(1));
  pacer.start(clock.ticks());
  stop.request();
  EXPECT_FALSE(pacer.wait(0, stop));
  EXPECT_FALSE(pacer.wait(std::numeric_limits<std::uint64_t>::max(), stop));
}

TEST_P(EveryPacer, counts_waiting_time_once) {
  Pacer pacer = this->pacer(rate(500));
  const std::uint64_t begin = clock.ticks();
  pacer.start(begin);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(pacer.wait(pacer.next(), stop));
  const std::uint64_t elapsed = clock.ticks() - begin;
  EXPECT_GT(pacer.pacing_ticks(), 0U);
  EXPECT_LE(pacer.pacing_ticks() + pacer.sleeping_ticks(), elapsed);
}

TEST_P(EveryPacer, resets_the_waiting_time_when_restarted) {
  Pacer pacer = this->pacer(rate(500));
  pacer.start(clock.ticks());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(pacer.wait(pacer.next(), stop));
  ASSERT_GT(pacer.pacing_ticks(), 0U);
  const std::uint64_t again = clock.ticks();
  pacer.start(again);
  EXPECT_EQ(pacer.pacing_ticks(), 0U);
  EXPECT_EQ(pacer.sleeping_ticks(), 0U);
  EXPECT_EQ(pacer.next(), again);
}

TEST_P(EveryPacer, sends_bursts_with_the_recovery_counted_from_the_last_publishs_return) {
  Load load;
  load.kind = LoadKind::burst;
  load.burst = 4;
  load.recovery_s = 0.002;
  Pacer pacer = this->pacer(load);
  const std::uint64_t start = clock.ticks();
  pacer.start(start);
  std::uint64_t returned = start;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t intended = pacer.next();
    const std::uint64_t pause = i % 4 == 0 && i > 0 ? clock.to_ticks(2'000'000) : 0;
    EXPECT_NEAR(static_cast<double>(intended - returned), static_cast<double>(pause), 1) << "message " << i;
    ASSERT_TRUE(pacer.wait(intended, stop));
    ASSERT_GE(clock.ticks(), intended);
    returned = clock.ticks();
    pacer.sent(returned);
  }
}

TEST_P(EveryPacer, under_max_makes_every_message_due_now) {
  Pacer pacer = this->pacer(Load{});
  pacer.start(clock.ticks());
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t before = clock.ticks();
    const std::uint64_t intended = pacer.next();
    EXPECT_LE(before, intended);
    EXPECT_LE(intended, clock.ticks());
    EXPECT_TRUE(pacer.wait(intended, stop));
  }
  EXPECT_EQ(pacer.pacing_ticks(), 0U);
  EXPECT_EQ(pacer.scheduled_until(clock.ticks()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Pacer, EveryPacer, testing::Bool(),
                         [](const auto& parameter) { return parameter.param ? "spinning" : "sleeping"; });

TEST(SpinningPacer, never_sleeps) {
  const Clock& clock = calibrated();
  const StopSignal stop;
  Pacer pacer(clock, rate(200), true);
  pacer.start(clock.ticks());
  const long switches = voluntary_switches();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(pacer.wait(pacer.next(), stop));
  EXPECT_EQ(voluntary_switches(), switches);
  EXPECT_EQ(pacer.sleeping_ticks(), 0U);
}

TEST(SleepingPacer, sleeps_between_two_messages) {
  const Clock& clock = calibrated();
  const StopSignal stop;
  Pacer pacer(clock, rate(200), false);
  pacer.start(clock.ticks());
  const long switches = voluntary_switches();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(pacer.wait(clock.ticks() + clock.to_ticks(5'000'000), stop));
  // The pacer must have slept in at least 1 of the 10 waits. It does not sleep in a wait if the machine interrupts it
  // for 5 ms first, because the instant has then passed.
  EXPECT_GE(voluntary_switches() - switches, 1);
  EXPECT_GT(pacer.sleeping_ticks(), 0U);
}

TEST(SleepingPacer, divides_a_long_sleep_to_notice_a_stop) {
  const Clock& clock = calibrated();
  const StopSignal stop;
  Pacer pacer(clock, rate(1), false);
  pacer.start(clock.ticks());
  const long switches = voluntary_switches();
  ASSERT_TRUE(pacer.wait(clock.ticks() + clock.to_ticks(400'000'000), stop));
  // Each sleep lasts at most 50 ms, so eight are expected. On a busy machine each sleep ends late, so there are fewer.
  // A pacer that does not limit its sleeps would sleep only once.
  EXPECT_GE(voluntary_switches() - switches, 2);
}

TEST(SleepingPacer, is_woken_before_the_instant) {
  const Clock& clock = calibrated();
  const StopSignal stop;
  Pacer pacer(clock, rate(1000), false);
  pacer.start(clock.ticks());
  int in_time = 0;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t margin = pacer.margin_ticks();
    ASSERT_TRUE(pacer.wait(clock.ticks() + clock.to_ticks(1'000'000), stop));
    in_time += pacer.margin_ticks() < margin ? 1 : 0;  // a late wake-up widens the margin
  }
  EXPECT_GE(in_time, 10) << "without a margin no wake-up would be in time";
}

TEST(SleepingPacer, adapts_its_margin_to_the_delay_of_wake_ups) {
  const Clock& clock = calibrated();
  const StopSignal stop;
  Pacer pacer(clock, rate(5000), false);
  const std::uint64_t assumed = pacer.margin_ticks();
  pacer.start(clock.ticks());
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(pacer.wait(clock.ticks() + clock.to_ticks(200'000), stop));
  EXPECT_NE(pacer.margin_ticks(), assumed);
  EXPECT_GE(pacer.margin_ticks(), clock.to_ticks(5'000));
  EXPECT_LE(pacer.margin_ticks(), clock.to_ticks(250'000));
  const std::uint64_t adapted = pacer.margin_ticks();
  pacer.start(clock.ticks());
  EXPECT_EQ(pacer.margin_ticks(), adapted) << "start() keeps the margin";
}

TEST(Pacer, that_sleeps_neither_spins_nor_returns_early) {
  const Clock clock = calibrated();
  Load load = rate(500);
  load.sleeps = true;
  Pacer pacer{clock, load, false};
  const StopSignal stop;
  pacer.start(clock.ticks());
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t intended = pacer.next();
    ASSERT_TRUE(pacer.wait(intended, stop));
    ASSERT_GE(clock.ticks(), intended);
    EXPECT_EQ(pacer.margin_ticks(), 0U);
  }
}

}  // namespace
}  // namespace middlemark::pacer_test
