// Tests real-time priorities and their limits, each in a separate child process, because a spinning real-time thread
// without a limit would block a processor.
#include <middlemark/placement.hpp>

#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <middlemark/clock.hpp>
#include <middlemark/settings.hpp>

#include "support/child.hpp"

namespace middlemark::real_time_test {
namespace {

using test::ChildEnd;
using test::in_child;

Placement real_time(Policy policy, int priority, double limit_s) {
  Placement placement;
  placement.cpus = {placed({}).cpus.back()};
  placement.policy = policy;
  placement.priority = priority;
  placement.rt_limit_s = limit_s;
  return placement;
}

std::string describe(const InForce& found) {
  return std::string(word(found.policy)) + ":" + std::to_string(found.priority);
}

/// Returns why real-time priorities are not permitted; empty if they are.
std::string why_not_permitted() {
  const ChildEnd end = in_child([] {
    sched_param parameters{};
    parameters.sched_priority = 1;
    return std::string(sched_setscheduler(0, SCHED_FIFO, &parameters) == 0 ? "" : std::strerror(errno));
  });
  return end.report;
}

#define NEEDS_REAL_TIME()                                        \
  if (const std::string why = why_not_permitted(); !why.empty()) \
  GTEST_SKIP() << "SCHED_FIFO is not permitted here: " << why

TEST(RealTime, policy_and_priority_are_read_back) {
  NEEDS_REAL_TIME();
  for (const Policy policy : {Policy::fifo, Policy::rr}) {
    for (const int priority : {1, 80, 99}) {
      const ChildEnd end = in_child([&] {
        const Placement placement = real_time(policy, priority, 2);
        place_process(placement);
        return describe(placed(placement));
      });
      EXPECT_EQ(end.report, std::string(word(policy)) + ":" + std::to_string(priority)) << end.how();
    }
  }
}

TEST(RealTime, the_limit_on_processor_time_is_set_with_a_hard_limit_a_second_later) {
  NEEDS_REAL_TIME();
  const ChildEnd end = in_child([] {
    place_process(real_time(Policy::fifo, 10, 0.25));
    rlimit limit{};
    getrlimit(RLIMIT_RTTIME, &limit);
    return std::to_string(limit.rlim_cur) + " " + std::to_string(limit.rlim_max);
  });
  EXPECT_EQ(end.report, "250000 1250000") << end.how();
}

TEST(RealTime, a_role_under_other_gets_no_limit) {
  const ChildEnd end = in_child([] {
    rlimit before{};
    getrlimit(RLIMIT_RTTIME, &before);
    Placement placement;
    placement.rt_limit_s = 0.25;
    place_process(placement);
    rlimit after{};
    getrlimit(RLIMIT_RTTIME, &after);
    return std::string(before.rlim_cur == after.rlim_cur ? "as before" : "changed");
  });
  EXPECT_EQ(end.report, "as before");
}

TEST(RealTime, a_spinner_is_ended_by_sigxcpu) {
  NEEDS_REAL_TIME();
  // If the tested limit does not work, the child's alarm at 10 s or the kernel's throttling stops the spinner.
  const ChildEnd end = in_child(
      []() -> std::string {
        place_process(real_time(Policy::fifo, 10, 0.2));
        const std::uint64_t begin = monotonic_ns();
        while (monotonic_ns() - begin < 8'000'000'000) {
        }
        return "still spinning";
      },
      std::chrono::seconds(10));
  EXPECT_TRUE(end.killed_by(SIGXCPU)) << end.how();
}

TEST(RealTime, a_spinner_that_ignores_sigxcpu_is_killed_a_second_later) {
  NEEDS_REAL_TIME();
  const ChildEnd end = in_child(
      []() -> std::string {
        signal(SIGXCPU, SIG_IGN);
        place_process(real_time(Policy::fifo, 10, 0.1));
        const std::uint64_t begin = monotonic_ns();
        while (monotonic_ns() - begin < 8'000'000'000) {
        }
        return "still spinning";
      },
      std::chrono::seconds(10));
  EXPECT_TRUE(end.killed_by(SIGKILL)) << end.how();
}

TEST(RealTime, a_thread_that_sometimes_blocks_is_not_ended) {
  NEEDS_REAL_TIME();
  const ChildEnd end = in_child([] {
    guard_process();
    place_process(real_time(Policy::fifo, 10, 0.1));
    for (int turn = 0; turn < 20; ++turn) {
      const std::uint64_t begin = monotonic_ns();
      while (monotonic_ns() - begin < 15'000'000) {
      }
      usleep(1000);
    }
    return std::string("lived through 0.3 s of work");
  });
  EXPECT_EQ(end.report, "lived through 0.3 s of work") << end.how();
}

TEST(RealTime, the_control_thread_runs_above_the_roles_and_a_role_keeps_its_priority) {
  NEEDS_REAL_TIME();
  const ChildEnd end = in_child([] {
    const Placement placement = real_time(Policy::fifo, 40, 2);
    place_process(placement);
    raise_priority(placement, 1);
    std::string role;
    std::thread([&] {
      raise_priority(placement, 0);
      role = describe(placed(placement));
    }).join();
    return describe(placed(placement)) + " " + role;
  });
  EXPECT_EQ(end.report, "fifo:41 fifo:40") << end.how();
}

TEST(RealTime, raising_stops_at_the_highest_priority) {
  NEEDS_REAL_TIME();
  const ChildEnd end = in_child([] {
    const Placement placement = real_time(Policy::rr, 99, 2);
    place_process(placement);
    raise_priority(placement, 1);
    return describe(placed(placement));
  });
  EXPECT_EQ(end.report, "rr:99") << end.how();
}

TEST(RealTime, a_priority_that_does_not_exist_is_refused_by_its_number) {
  NEEDS_REAL_TIME();
  for (const int priority : {0, 100}) {
    const ChildEnd end = in_child([priority]() -> std::string {
      place_process(real_time(Policy::fifo, priority, 2));
      return "accepted";
    });
    EXPECT_EQ(end.report,
              "threw: placement: real-time priority " + std::to_string(priority) + " refused: Invalid argument");
  }
}

TEST(RealTime, without_permission_the_error_says_how_to_get_it) {
  const ChildEnd end = in_child([]() -> std::string {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_RTPRIO, &none);
    if (getuid() == 0 && (setgroups(0, nullptr) != 0 || setuid(65534) != 0)) return "cannot become nobody";
    try {
      place_process(real_time(Policy::fifo, 80, 2));
    } catch (const AdapterError& error) {
      return std::string(error.what()) + "|" + error.advice();
    }
    return "accepted";
  });
  EXPECT_EQ(end.report.find("placement: real-time priority 80 refused: Operation not permitted|"), 0U) << end.report;
  EXPECT_NE(end.report.find("setcap cap_sys_nice+ep"), std::string::npos) << end.report;
  EXPECT_NE(end.report.find("/etc/security/limits.conf"), std::string::npos) << end.report;
}

}  // namespace
}  // namespace middlemark::real_time_test
