#include <middlemark/placement.hpp>

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <middlemark/settings.hpp>

#include "support/child.hpp"
#include "support/sanitizers.hpp"

namespace middlemark::placement_test {
namespace {

using test::ChildEnd;
using test::in_child;

/// Returns the last processor that this process may use.
int some_processor() { return placed({}).cpus.back(); }

/// Returns the error that `work` throws, in the form text|advice.
template <class Work>
std::string refusal(Work&& work) {
  try {
    std::forward<Work>(work)();
  } catch (const AdapterError& error) {
    return std::string(error.what()) + "|" + error.advice();
  }
  return "not refused";
}

std::string list(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += std::to_string(number) + " ";
  return text;
}

TEST(Placement, the_requested_processors_are_read_back) {
  const int cpu = some_processor();
  const ChildEnd end = in_child([cpu] {
    Placement placement;
    placement.cpus = {cpu};
    place_process(placement);
    return list(placed(placement).cpus);
  });
  EXPECT_EQ(end.report, list({cpu}));
}

TEST(Placement, threads_started_afterwards_inherit_the_processors) {
  const int cpu = some_processor();
  const ChildEnd end = in_child([cpu] {
    Placement placement;
    placement.cpus = {cpu};
    place_process(placement);
    std::string seen;
    std::thread([&seen] { seen = list(placed({}).cpus); }).join();
    return seen;
  });
  EXPECT_EQ(end.report, list({cpu}));
}

TEST(Placement, without_processors_the_affinity_is_unchanged) {
  const std::vector<int> before = placed({}).cpus;
  const ChildEnd end = in_child([] {
    place_process({});
    return list(placed({}).cpus);
  });
  EXPECT_EQ(end.report, list(before));
}

TEST(Placement, pinning_affects_only_the_calling_thread) {
  const std::vector<int> before = placed({}).cpus;
  const int cpu = before.back();
  const ChildEnd end = in_child([cpu] {
    std::string pinned;
    std::thread([&pinned, cpu] {
      pin_thread(cpu);
      pinned = list(placed({}).cpus);
    }).join();
    return pinned + "/ " + list(placed({}).cpus);
  });
  EXPECT_EQ(end.report, list({cpu}) + "/ " + list(before));
}

TEST(Placement, a_processor_the_machine_does_not_have_is_refused_by_its_number_and_with_advice) {
  const ChildEnd end = in_child([] {
    return refusal([] {
      Placement placement;
      placement.cpus = {1022, 1023};
      place_process(placement);
    });
  });
  EXPECT_EQ(end.report,
            "placement: processors 1022,1023 refused: Invalid argument|`nproc` and `taskset -p $$` show which "
            "processors this "
            "process may use");
  const ChildEnd pinned = in_child([] { return refusal([] { pin_thread(1023); }); });
  EXPECT_EQ(pinned.report, "placement: processor 1023 refused: Invalid argument|");
}

TEST(Placement, an_impossible_processor_number_is_refused) {
  for (const int cpu : {-1, CPU_SETSIZE, 1 << 30}) {
    Placement placement;
    placement.cpus = {cpu};
    const std::string expected = "placement: there is no processor " + std::to_string(cpu) + "|";
    EXPECT_EQ(refusal([&] { place_process(placement); }), expected);
    EXPECT_EQ(refusal([&] { pin_thread(cpu); }), expected);
  }
}

TEST(Placement, other_is_read_back_as_priority_zero_and_raising_it_changes_nothing) {
  const ChildEnd end = in_child([] {
    place_process({});
    raise_priority({}, 5);
    const InForce found = placed({});
    return std::string(word(found.policy)) + " " + std::to_string(found.priority);
  });
  EXPECT_EQ(end.report, "other 0");
}

TEST(Placement, locked_memory_is_read_back) {
  if (test::under_address_sanitizer || test::under_thread_sanitizer) {
    GTEST_SKIP() << "under a sanitizer mlockall does nothing, because the sanitizer's own memory cannot be locked";
  }
  const ChildEnd end = in_child([] {
    Placement placement;
    placement.mlock = true;
    const std::string refused = refusal([&] { place_process(placement); });
    if (refused != "not refused") return refused;
    return std::string(placed(placement).mlocked ? "locked" : "not locked");
  });
  if (end.report.starts_with("placement: mlockall refused: ")) {
    EXPECT_NE(end.report.find("memlock"), std::string::npos) << "no advice: " << end.report;
    GTEST_SKIP() << end.report;
  }
  EXPECT_EQ(end.report, "locked") << end.how();
}

TEST(Placement, memory_is_not_reported_as_locked_without_a_request) { EXPECT_FALSE(placed({}).mlocked); }

TEST(Guard, timed_wake_ups_of_all_threads_have_no_slack) {
  const ChildEnd end = in_child([] {
    guard_process();
    std::string slack = std::to_string(prctl(PR_GET_TIMERSLACK));
    std::thread([&slack] { slack += " " + std::to_string(prctl(PR_GET_TIMERSLACK)); }).join();
    return slack;
  });
  EXPECT_EQ(end.report, "1 1");
}

TEST(Guard, the_process_and_its_children_are_killed_first_when_memory_runs_out) {
  const ChildEnd end = in_child([] {
    guard_process();
    const auto score = [] {
      std::ifstream file("/proc/self/oom_score_adj");
      std::string line;
      std::getline(file, line);
      return line;
    };
    return score() + ", its child " + in_child(score).text();
  });
  EXPECT_EQ(end.text(), "1000, its child 1000");
}

TEST(Guard, writing_to_a_launcher_that_went_away_does_not_end_the_process) {
  const ChildEnd end = in_child([]() -> std::string {
    guard_process();
    std::array<int, 2> channel{};
    if (pipe(channel.data()) != 0) return "no pipe";
    close(channel[0]);
    return write(channel[1], "x", 1) < 0 && errno == EPIPE ? "EPIPE" : "written";
  });
  EXPECT_EQ(end.report, "EPIPE") << end.how();
}

TEST(Guard, an_orphan_is_killed) {
  // Adopt the orphan, so that this process can see how it ended.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const ChildEnd parent = in_child([]() -> std::string {
    std::array<int, 2> guarded{};
    if (pipe(guarded.data()) != 0) return "no pipe";
    const pid_t orphan = fork();
    if (orphan == 0) {
      guard_process();
      alarm(20);
      test::write_all(guarded[1], "guarded");
      for (;;) pause();
    }
    char first = 0;
    if (read(guarded[0], &first, 1) != 1) return "the orphan never came up";
    return std::to_string(orphan);
  });
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  ASSERT_TRUE(parent.exited_with(0)) << parent.how();
  const pid_t orphan = std::stoi(parent.report);
  int status = 0;
  ASSERT_EQ(waitpid(orphan, &status, 0), orphan);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "status " << status;
}

}  // namespace
}  // namespace middlemark::placement_test
