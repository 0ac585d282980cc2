#include <middlemark/resources.hpp>

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <middlemark/json.hpp>
#include <middlemark/placement.hpp>

#include "support/burden.hpp"
#include "support/sanitizers.hpp"
#include "support/child.hpp"

namespace middlemark::resources_test {
namespace {

using namespace std::chrono_literals;
using test::burn;
using test::Mapping;
using test::mib;
using test::ms;
using test::now_ns;

void name_this_thread(const std::string& name) { ASSERT_EQ(pthread_setname_np(pthread_self(), name.c_str()), 0); }

/// A named thread. It has done its work when the constructor returns, and then waits until the destructor.
class Parked {
 public:
  Parked(const std::string& name, std::function<void()> work)
      : thread_([this, name, work = std::move(work)] {
          name_this_thread(name);
          tid_ = gettid();
          work();
          done_.count_down();
          leave_.wait();
        }) {
    done_.wait();
  }
  ~Parked() { leave_.count_down(); }
  Parked(const Parked&) = delete;
  Parked& operator=(const Parked&) = delete;

  [[nodiscard]] pid_t tid() const { return tid_; }

 private:
  std::latch done_{1};
  std::latch leave_{1};
  std::atomic<pid_t> tid_{0};
  std::jthread thread_;
};

std::vector<ThreadUse> named(const Resources& resources, const std::string& name) {
  std::vector<ThreadUse> found;
  for (const ThreadUse& thread : resources.threads) {
    if (thread.name == name) found.push_back(thread);
  }
  return found;
}

std::uint64_t processor_ns(const Resources& resources) { return resources.user_ns + resources.system_ns; }

bool kernel_reports_waiting() { return thread_times().has_value(); }

TEST(Resources, a_thread_is_listed_with_its_name_and_the_processor_time_it_used) {
  ResourceReader reader;
  const Resources before = reader.read();
  const std::uint64_t began = now_ns(CLOCK_MONOTONIC);
  const Parked burner("burner", [] { burn(200 * ms); });
  const Resources after = reader.read();
  const std::uint64_t wall = now_ns(CLOCK_MONOTONIC) - began;

  EXPECT_TRUE(named(before, "burner").empty());
  const auto found = named(after, "burner");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].tid, burner.tid());
  EXPECT_GE(found[0].cpu_ns, 200 * ms);
  EXPECT_LE(found[0].cpu_ns, wall);
  EXPECT_EQ(found[0].waiting_ns.has_value(), kernel_reports_waiting());
  EXPECT_GE(processor_ns(after) - processor_ns(before) + 2000,
            200 * ms);  // getrusage rounds down to microseconds, twice
}

TEST(Resources, computing_is_user_time) {
  const auto end = test::in_child([]() -> std::string {
    burn(200 * ms);
    const Resources used = ResourceReader().read();
    return used.user_ns > used.system_ns ? "user" : "system";
  });
  EXPECT_EQ(end.text(), "user");
}

TEST(Resources, system_calls_are_system_time) {
  const auto end = test::in_child([]() -> std::string {
    const std::uint64_t until = now_ns(CLOCK_THREAD_CPUTIME_ID) + 200 * ms;
    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until) Mapping(4 * mib).touch();
    const Resources used = ResourceReader().read();
    return used.user_ns > used.system_ns ? "user" : "system";
  });
  EXPECT_EQ(end.text(), "system");
}

/// Waits 200 times until the thread has done a step. Returns after how many of these steps `account_ns` was larger than
/// before, i.e. the account of the thread's processor time was up to date.
int kept_up(const std::atomic<std::uint64_t>& steps_of_thread, const std::function<std::uint64_t()>& account_ns) {
  int moved = 0;
  std::uint64_t last = account_ns();
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t step = steps_of_thread;
    while (steps_of_thread == step) std::this_thread::yield();
    const std::uint64_t next = account_ns();
    moved += next > last ? 1 : 0;
    last = next;
  }
  return moved;
}

TEST(Resources, a_running_thread_is_counted_up_to_the_reading_and_not_to_the_last_tick) {
  const std::vector<int> cpus = placed({}).cpus;
  std::atomic<bool> over{false};
  std::atomic<pid_t> tid{0};
  std::atomic<std::uint64_t> steps{0};
  std::jthread runner([&] {
    pin_thread(cpus.front());
    tid = gettid();
    while (!over) ++steps;
  });
  std::jthread([&] {
    pin_thread(cpus.back());  // on another processor if possible, because a context switch would update the account
    while (tid == 0) std::this_thread::yield();
    ResourceReader reader;
    const auto from_all = [&] {
      const Resources now = reader.read();
      return std::ranges::find(now.threads, tid.load(), &ThreadUse::tid)->cpu_ns;
    };
    // 180 and not 200: the kernel may later subtract time that the hypervisor took, so the account stops for a moment.
    EXPECT_GE(kept_up(steps, from_all), 180);
    const auto by_id = [&] { return thread_times(tid).value_or(ThreadTimes{}).on_cpu_ns; };
    EXPECT_GE(kept_up(steps, by_id), kernel_reports_waiting() ? 180 : 0);
  }).join();
  over = true;
}

TEST(Resources, memory_is_resident_once_touched_and_the_peak_remains_after_freeing) {
  ResourceReader reader;
  const Resources before = reader.read();
  Mapping memory(64 * mib);
  ASSERT_TRUE(memory.mapped());
  const Resources reserved = reader.read();
  memory.touch();
  const Resources touched = reader.read();
  memory.unmap();
  const Resources after = reader.read();

  EXPECT_LE(reserved.rss_bytes, before.rss_bytes + 4 * mib);
  EXPECT_GE(touched.rss_bytes, before.rss_bytes + 60 * mib);
  EXPECT_LE(touched.rss_bytes, before.rss_bytes + 68 * mib);
  EXPECT_GE(touched.peak_rss_bytes, touched.rss_bytes);
  EXPECT_LE(after.rss_bytes, touched.rss_bytes - 60 * mib);
  EXPECT_GE(after.peak_rss_bytes, before.rss_bytes + 60 * mib);
}

std::uint64_t peak_kib() {
  std::ifstream status("/proc/self/status");
  std::uint64_t kib = 0;
  for (std::string word; status >> word && word != "VmHWM:";) {
  }
  status >> kib;
  return kib;
}

TEST(Resources, a_kb_in_proc_is_1024_bytes) {
  ResourceReader reader;
  const std::uint64_t before = peak_kib();
  const Resources used = reader.read();
  EXPECT_GE(used.peak_rss_bytes, before * 1024);
  EXPECT_LE(used.peak_rss_bytes, peak_kib() * 1024);
}

TEST(Resources, the_first_touch_of_every_page_is_a_minor_fault) {
  ResourceReader reader;
  Mapping memory(64 * mib);
  ASSERT_TRUE(memory.mapped());
  const Resources before = reader.read();
  memory.touch();
  const Resources after = reader.read();
  memory.touch();
  const Resources again = reader.read();

  EXPECT_GE(after.minor_faults - before.minor_faults, memory.pages());
  EXPECT_LE(again.minor_faults - after.minor_faults, memory.pages() / 2);
}

TEST(Resources, every_sleep_is_a_voluntary_context_switch) {
  ResourceReader reader;
  const Resources before = reader.read();
  const Parked sleeper("sleeper", [] {
    for (int i = 0; i < 50; ++i) std::this_thread::sleep_for(1ms);
  });
  EXPECT_GE(reader.read().voluntary - before.voluntary, 50U);
}

TEST(Resources, a_preemption_is_an_involuntary_context_switch) {
  ResourceReader reader;
  const Resources before = reader.read();
  const int cpu = placed({}).cpus.back();
  // Both threads spin on one processor until it is their turn, so each turn ends with a preemption.
  std::atomic<int> turn{0};
  const auto play = [&](int own) {
    pin_thread(cpu);
    for (int move = own; move < 10; move += 2) {
      while (turn.load() != move) {
      }
      turn.store(move + 1);
    }
  };
  {
    std::jthread even(play, 0);
    std::jthread odd(play, 1);
  }
  // At least 8 of the 10 turns: the start of one thread and the end of the other need no preemption.
  EXPECT_GE(reader.read().involuntary - before.involuntary, 8U);
}

TEST(Resources, a_name_with_spaces_and_parentheses_is_read_whole) {
  ResourceReader reader;
  const Parked odd("odd) name (x", [] { burn(1 * ms); });
  const auto found = named(reader.read(), "odd) name (x");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].tid, odd.tid());
  EXPECT_GE(found[0].cpu_ns, 1 * ms);
}

TEST(Resources, a_name_of_two_lines_is_not_read_as_the_resident_memory) {
  const auto end = test::in_child([] {
    name_this_thread("x\nVmRSS:\t7 kB");
    const Resources used = ResourceReader().read();
    return used.threads.at(0).name + ", " + (used.rss_bytes > 7 * 1024 ? "true" : "forged");
  });
  EXPECT_EQ(end.text(), "x\nVmRSS:\t7 kB, true");
}

/// Reads until this number of threads is listed, because the kernel may list a joined thread for a moment.
Resources read_until(ResourceReader& reader, std::size_t threads) {
  Resources used = reader.read();
  for (int i = 0; i < 5000 && used.threads.size() != threads; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    used = reader.read();
  }
  return used;
}

/// Returns the number of threads before the test's own, including one that a sanitizer starts with the first thread.
std::size_t threads_before(ResourceReader& reader) {
  std::thread([] {}).join();
  return read_until(reader, test::under_thread_sanitizer ? 2 : 1).threads.size();
}

TEST(Resources, every_thread_is_listed_once) {
  ResourceReader reader;
  const std::size_t before = threads_before(reader);
  std::vector<std::unique_ptr<Parked>> threads;
  for (int i = 0; i < 40; ++i) threads.push_back(std::make_unique<Parked>("thread " + std::to_string(i), [] {}));
  const Resources all = reader.read();
  EXPECT_EQ(all.threads.size(), before + threads.size());
  for (int i = 0; i < 40; ++i) EXPECT_EQ(named(all, "thread " + std::to_string(i)).size(), 1U) << i;
  EXPECT_EQ(all.threads.front().tid, getpid());
}

TEST(Resources, threads_that_come_and_go_do_not_disturb_a_reading) {
  ResourceReader reader;
  std::atomic<bool> over{false};
  std::jthread source([&over] {
    while (!over) {
      std::vector<std::jthread> brief;
      for (int i = 0; i < 4; ++i) brief.emplace_back([] { name_this_thread("brief"); });
    }
  });
  std::size_t seen = 0;
  for (int i = 0; i < 100'000 && (i < 500 || seen == 0); ++i) seen += named(reader.read(), "brief").size();
  over = true;
  EXPECT_GT(seen, 0U);
}

TEST(Resources, a_thread_that_has_ended_leaves_no_descriptor_behind) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  ResourceReader reader;
  const std::size_t threads = threads_before(reader);
  const auto before = descriptors();
  {
    const Parked first("first", [] {});
    const Parked second("second", [] {});
    EXPECT_EQ(reader.read().threads.size(), threads + 2);
  }
  EXPECT_EQ(read_until(reader, threads).threads.size(), threads);
  EXPECT_EQ(descriptors(), before);
}

TEST(Resources, a_thread_that_changes_its_name_is_listed_under_the_new_one) {
  ResourceReader reader;
  const Parked changing("first name", [&reader] {
    EXPECT_EQ(named(reader.read(), "first name").size(), 1U);
    name_this_thread("second name");
  });
  const Resources after = reader.read();
  EXPECT_TRUE(named(after, "first name").empty());
  EXPECT_EQ(named(after, "second name").size(), 1U);
}

TEST(Resources, an_ended_thread_remains_in_the_totals_and_in_the_time_of_ended_threads) {
  ResourceReader reader;
  const Resources before = reader.read();
  {
    const Parked brief("brief", [] { burn(200 * ms); });
  }
  const Resources after = reader.read();

  EXPECT_TRUE(named(after, "brief").empty());
  // Allow 10 ms less: the threads run during a reading, so the time of ended threads is not exact.
  EXPECT_GE(ended_threads_ns(after) + 10 * ms, ended_threads_ns(before) + 200 * ms);
  std::uint64_t living = 0;
  for (const ThreadUse& thread : after.threads) living += thread.cpu_ns;
  EXPECT_EQ(living + ended_threads_ns(after), processor_ns(after));
}

TEST(Resources, living_threads_are_not_counted_as_ended) {
  ResourceReader reader;
  const Resources before = reader.read();
  const Parked burner("burner", [] { burn(200 * ms); });
  EXPECT_LT(ended_threads_ns(reader.read()), ended_threads_ns(before) + 100 * ms);
}

TEST(Resources, an_opened_file_is_one_descriptor_more) {
  ResourceReader reader;
  static_cast<void>(reader.read());  // opens two files of each thread
  const std::uint64_t before = reader.read().descriptors.value();
  const std::ifstream file("/proc/self/status");
  EXPECT_EQ(reader.read().descriptors, before + 1);
}

TEST(Resources, touched_memory_is_private_and_a_touched_file_is_not) {
  ResourceReader reader;
  const Resources before = reader.read();
  const Mapping touched(8 * mib);
  touched.touch();
  const Resources after = reader.read();
  EXPECT_GE(after.private_bytes.value(), before.private_bytes.value() + 8 * mib);
  EXPECT_LE(after.private_bytes.value(), after.rss_bytes);
}

TEST(Resources, totals_below_the_sum_of_the_threads_mean_that_no_thread_ended) {
  Resources used;
  used.user_ns = 1000;
  used.system_ns = 1000;
  used.threads = {{1, "a", 1500, 0}, {2, "b", 1400, 0}};
  EXPECT_EQ(ended_threads_ns(used), 0U);
  used.system_ns = 4000;
  EXPECT_EQ(ended_threads_ns(used), 2100U);
}

TEST(Resources, their_message_has_the_names_of_the_protocol) {
  Resources used;
  used.rss_bytes = 1;
  used.peak_rss_bytes = 2;
  used.bench_bytes = 14;
  used.user_ns = 3;
  used.system_ns = 4;
  used.voluntary = 5;
  used.involuntary = 6;
  used.minor_faults = 7;
  used.major_faults = 8;
  used.private_bytes = 15;
  used.threads = {{9, "recv", 10, 11}, {12, "odd) name (x", 13, {}}};
  EXPECT_EQ(json_of(used), nlohmann::json::parse(R"({
    "rss_bytes": 1, "peak_rss_bytes": 2, "bench_bytes": 14, "user_ns": 3, "system_ns": 4, "voluntary": 5,
    "involuntary": 6, "minor_faults": 7, "major_faults": 8, "private_bytes": 15, "descriptors": null,
    "threads": [{"tid": 9, "name": "recv", "cpu_ns": 10, "waiting_ns": 11},
                {"tid": 12, "name": "odd) name (x", "cpu_ns": 13, "waiting_ns": null}]
  })"));
}

TEST(ThreadTimes, of_the_calling_thread_are_exact) {
  if (!kernel_reports_waiting()) GTEST_SKIP() << "this kernel keeps no schedstat";
  const auto on_cpu_ns = [] { return thread_times().value().on_cpu_ns; };
  const std::uint64_t before = on_cpu_ns();
  burn(50 * ms);
  const std::uint64_t after = on_cpu_ns();
  EXPECT_GE(after - before, 50 * ms);
  int moved = 0;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t first = on_cpu_ns();
    moved += on_cpu_ns() > first ? 1 : 0;
  }
  EXPECT_GE(moved, 180);
}

TEST(ThreadTimes, do_not_include_sleep) {
  if (!kernel_reports_waiting()) GTEST_SKIP() << "this kernel keeps no schedstat";
  const auto left_of = [](const std::function<void()>& work) {
    const ThreadTimes before = thread_times().value();
    const std::uint64_t began = now_ns(CLOCK_MONOTONIC);
    work();
    const std::uint64_t wall = now_ns(CLOCK_MONOTONIC) - began;
    const ThreadTimes after = thread_times().value();
    return static_cast<double>(wall) - static_cast<double>(after.on_cpu_ns - before.on_cpu_ns) -
           static_cast<double>(after.waiting_ns - before.waiting_ns);
  };
  EXPECT_GE(left_of([] { std::this_thread::sleep_for(200ms); }), 190.0 * ms);
  EXPECT_LE(left_of([] { burn(200 * ms); }), 100.0 * ms);
}

TEST(ThreadTimes, show_the_wait_of_two_threads_for_one_processor) {
  if (!kernel_reports_waiting()) GTEST_SKIP() << "this kernel keeps no schedstat";
  const int cpu = placed({}).cpus.back();
  std::atomic<int> begun{0};
  std::array<std::uint64_t, 2> waited{};
  const auto work = [&](std::size_t which) {
    pin_thread(cpu);
    begun.fetch_add(1);
    while (begun.load() < 2) {
    }
    const ThreadTimes before = thread_times().value();
    burn(100 * ms);
    waited.at(which) = thread_times()->waiting_ns - before.waiting_ns;
  };
  {
    std::jthread first(work, 0);
    std::jthread second(work, 1);
  }
  EXPECT_GE(std::max(waited[0], waited[1]), 50 * ms);
}

TEST(ThreadTimes, are_empty_for_an_ended_thread_and_for_another_process) {
  pid_t ended = 0;
  std::jthread([&ended] { ended = gettid(); }).join();
  EXPECT_FALSE(thread_times(ended).has_value());
  EXPECT_FALSE(thread_times(getppid()).has_value());
}

}  // namespace
}  // namespace middlemark::resources_test
