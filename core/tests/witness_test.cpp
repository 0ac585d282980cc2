#include <sched.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/clock.hpp>
#include <middlemark/placement.hpp>
#include <middlemark/settings.hpp>
#include <middlemark/witness/awake.hpp>
#include <middlemark/witness/gaps.hpp>
#include <middlemark/witness/occupancy.hpp>
#include <middlemark/witness/switches.hpp>

namespace middlemark::witness::witness_test {
namespace {

constexpr std::size_t plenty = 1000;
const std::vector<pid_t> ours{10, 11};

int usable_processor() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  int found = 0;
  while (CPU_ISSET(static_cast<std::size_t>(found), &mask) == 0) ++found;
  return found;
}

/// A process that spins on one processor until it is killed.
class Hog {
 public:
  explicit Hog(int cpu) : pid_(fork()) {
    if (pid_ != 0) return;
    guard_process();
    pin_thread(cpu);
    alarm(20);
    for (volatile bool forever = true; forever;) {
    }
  }
  ~Hog() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

void spin_on(int cpu, std::uint64_t ns) {
  std::jthread([cpu, ns] {
    pin_thread(cpu);
    const std::uint64_t end = monotonic_ns() + ns;
    while (monotonic_ns() < end) {
    }
  });
}

std::uint64_t counted(const Durations& of) {
  std::uint64_t all = 0;
  for (std::size_t bucket = 0; bucket < Durations::buckets; ++bucket) all += of.count(bucket);
  return all;
}

TEST(Durations, are_counted_by_octave_from_one_microsecond_on) {
  Durations durations;
  for (const std::uint64_t ns : {999U, 1000U, 1999U, 2000U, 5000U}) durations.add(ns);
  EXPECT_EQ(durations.count(0), 2U);
  EXPECT_EQ(durations.count(1), 1U);
  EXPECT_EQ(durations.count(2), 1U);
  EXPECT_EQ(counted(durations), 4U);
  EXPECT_EQ(durations.longest_ns(), 5000U);
  EXPECT_EQ(durations.total_ns(), 9999U);
}

TEST(Durations, that_are_longer_than_any_bucket_are_in_the_last_one) {
  Durations durations;
  durations.add(~std::uint64_t{0});
  EXPECT_EQ(durations.count(Durations::buckets - 1), 1U);
}

TEST(Probe, spins_for_the_requested_time_and_at_most_a_second) {
  const int cpu = usable_processor();
  const auto found = probe({{cpu}, {}, 5'000'000});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cpu, cpu);
  EXPECT_GE(found[0].spun_ns, 4'000'000U);
  EXPECT_EQ(found[0].wakes, 0U);
  const std::uint64_t begin = monotonic_ns();
  const auto longest = probe({{cpu}, {}, ~std::uint64_t{0} / 2});
  EXPECT_GE(monotonic_ns() - begin, longest_probe_ns - 1'000'000);
  EXPECT_GE(longest[0].spun_ns, longest_probe_ns - 1'000'000);
}

TEST(Probe, sleeps_for_half_of_the_time_where_a_role_would_sleep) {
  const int cpu = usable_processor();
  const auto found = probe({{cpu}, {cpu}, 40'000'000});
  EXPECT_GT(found[0].wakes + counted(found[0].taken), 0U);
  EXPECT_LE(found[0].wakes, 100U);  // 20 ms in sleeps of 0.2 ms
  EXPECT_LE(found[0].waited_ns, 20'000'000U);
}

TEST(Probe, counts_time_of_another_process_as_taken) {
  const int cpu = usable_processor();
  const Hog hog(cpu);
  const auto found = probe({{cpu}, {}, 200'000'000});
  EXPECT_GE(found[0].taken.total_ns(), 20'000'000U);
  EXPECT_GE(found[0].taken.longest_ns(), 500'000U);
}

TEST(Probe, refuses_a_processor_that_does_not_exist) {
  EXPECT_THROW(static_cast<void>(probe({{100'000}, {}, 1000})), AdapterError);
}

/// Returns the threads of this process that keep a processor awake. Skips others, such as the thread sanitizer's.
std::vector<pid_t> spinners() {
  std::vector<pid_t> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name.starts_with("awake ")) found.push_back(std::stoi(task.path().filename().string()));
  }
  return found;
}

/// Waits until no spinner is listed, because the kernel may list a joined thread for a moment.
bool all_have_ended() {
  for (int tries = 0; tries < 30'000 && !spinners().empty(); ++tries) usleep(1000);
  return spinners().empty();
}

TEST(Awake, spins_at_the_lowest_priority_on_each_of_its_processors_until_it_is_destroyed) {
  const int cpu = usable_processor();
  {
    const Awake awake({cpu}, 600'000'000'000);
    const std::vector<pid_t> found = spinners();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(sched_getscheduler(found[0]), SCHED_IDLE);
    cpu_set_t mask;
    ASSERT_EQ(sched_getaffinity(found[0], sizeof mask, &mask), 0);
    EXPECT_EQ(CPU_COUNT(&mask), 1);
    EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(cpu), &mask));
  }
  EXPECT_TRUE(all_have_ended());
}

TEST(Awake, ends_by_itself_after_its_time_limit) {
  const Awake awake({usable_processor()}, 1'000'000);
  EXPECT_TRUE(all_have_ended());
}

TEST(Awake, refuses_a_processor_that_does_not_exist_and_spins_on_none) {
  EXPECT_THROW(Awake({usable_processor(), 100'000}, 600'000'000'000), AdapterError);
  EXPECT_TRUE(all_have_ended());
}

TEST(Occupancy, is_time_that_is_neither_idle_nor_a_workers) {
  Occupancy occupancy(3, ours, plenty);
  occupancy.follow({100, 10, idle, false});
  occupancy.follow({200, idle, 77, false});
  occupancy.follow({350, 77, 11, false});
  occupancy.follow({400, 11, 10, true});  // a switch between workers
  occupancy.follow({500, 10, 88, true});
  occupancy.end(600);
  ASSERT_EQ(occupancy.spells().size(), 2U);
  EXPECT_EQ(occupancy.spells()[0].from_ns, 200U);
  EXPECT_EQ(occupancy.spells()[0].to_ns, 350U);
  EXPECT_EQ(occupancy.spells()[0].cpu, 3);
  EXPECT_EQ(occupancy.spells()[0].pid, 77);
  EXPECT_EQ(occupancy.spells()[1].pid, 88);
  EXPECT_EQ(occupancy.spells()[1].to_ns, 600U);
  EXPECT_TRUE(occupancy.complete());
}

TEST(Occupancy, attributes_a_preemption_by_the_idle_task_to_a_hidden_process) {
  Occupancy occupancy(0, ours, plenty);
  occupancy.follow({100, 10, idle, true});
  occupancy.follow({200, idle, 10, false});
  occupancy.follow({300, 10, idle, false});
  occupancy.follow({400, idle, 10, false});
  ASSERT_EQ(occupancy.spells().size(), 1U);
  EXPECT_EQ(occupancy.spells()[0].pid, somebody);
  EXPECT_EQ(occupancy.spells()[0].to_ns, 200U);
}

TEST(Occupancy, has_a_gap_and_is_incomplete_if_records_were_lost) {
  Occupancy occupancy(0, ours, plenty);
  occupancy.follow({100, 10, 77, true});
  occupancy.lose();
  occupancy.follow({900, 88, 10, false});
  EXPECT_TRUE(occupancy.spells().empty());
  EXPECT_FALSE(occupancy.complete());
}

TEST(Occupancy, is_incomplete_beyond_its_limit_of_spells) {
  Occupancy occupancy(0, ours, 1);
  for (std::uint64_t at = 100; at < 500; at += 100) {
    occupancy.follow({at, 10, 77, true});
    EXPECT_EQ(occupancy.complete(), at < 300);
    occupancy.follow({at + 50, 77, 10, false});
  }
  EXPECT_EQ(occupancy.spells().size(), 1U);
}

TEST(Between, clips_spells_to_the_interval_and_adds_them_up) {
  const std::vector<Spell> spells{{0, 100, 0, 7}, {200, 300, 1, 7}, {250, 400, 0, 8}, {900, 950, 0, 8}};
  const Seen seen = summary_between(spells, 50, 350, plenty);
  EXPECT_EQ(seen.others_ns, (std::map<int, std::uint64_t>{{0, 150}, {1, 100}}));
  EXPECT_EQ(seen.by_pid_ns, (std::map<pid_t, std::uint64_t>{{7, 150}, {8, 100}}));
  ASSERT_EQ(seen.longest.size(), 3U);
  EXPECT_EQ(seen.longest[0].to_ns, 100U);
  EXPECT_EQ(seen.longest[2].to_ns, 350U);
}

TEST(Between, lists_the_longest_and_summarises_the_others) {
  std::vector<Spell> spells;
  for (std::uint64_t length = 1; length <= 5; ++length) spells.push_back({length * 100, length * 100 + length, 0, 7});
  const Seen seen = summary_between(spells, 0, 1000, 2);
  ASSERT_EQ(seen.longest.size(), 2U);
  EXPECT_EQ(seen.longest[0].from_ns, 400U);
  EXPECT_EQ(seen.longest[1].from_ns, 500U);
  EXPECT_EQ(seen.shorter, 3U);
  EXPECT_EQ(seen.longest_of_the_shorter_ns, 3U);
  EXPECT_EQ(seen.others_ns.at(0), 15U);
}

TEST(Between, merges_adjacent_spells_of_a_processor) {
  const std::vector<Spell> spells{{100, 200, 0, 7}, {200, 300, 0, 8}, {200, 300, 1, 8}};
  EXPECT_EQ(summary_between(spells, 0, 1000, plenty).longest.size(), 2U);
}

TEST(SwitchWatch, sees_another_process_take_the_processor_from_a_worker) {
  const int cpu = usable_processor();
  std::unique_ptr<SwitchWatch> watch;
  const Hog hog(cpu);
  try {
    watch = std::make_unique<SwitchWatch>(std::vector{cpu}, std::vector{getpid()});
  } catch (const std::system_error& error) {
    GTEST_SKIP() << error.what();
  }
  const std::uint64_t begin = monotonic_ns();
  spin_on(cpu, 300'000'000);
  const std::uint64_t end = monotonic_ns();
  watch->stop();
  const Seen seen = watch->seen(begin, end, plenty);
  ASSERT_TRUE(seen.others_ns.contains(cpu));
  EXPECT_GE(seen.others_ns.at(cpu), (end - begin) / 10);
  EXPECT_LE(seen.others_ns.at(cpu), end - begin);
  if (watch->scope() == WatchScope::processors) {
    ASSERT_TRUE(seen.by_pid_ns.contains(hog.pid()));
    EXPECT_FALSE(watch->name(hog.pid()).empty());
    EXPECT_FALSE(seen.by_pid_ns.contains(getpid()));
  }
  EXPECT_EQ(watch->lost(), 0U);
}

TEST(SwitchWatch, is_incomplete_only_after_its_memory_overflowed) {
  const int cpu = usable_processor();
  std::unique_ptr<SwitchWatch> watch;
  try {
    watch = std::make_unique<SwitchWatch>(std::vector{cpu}, std::vector{getpid()});
  } catch (const std::system_error& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_TRUE(watch->complete());
  std::jthread([cpu] {  // two threads that wake each other on one processor: two records per switch
    pin_thread(cpu);
    const int there = eventfd(0, 0);
    const int back = eventfd(0, 0);
    constexpr int trips = 60'000;
    std::uint64_t word = 1;
    std::jthread other([there, back] {
      std::uint64_t mine = 1;
      for (int i = 0; i < trips && read(there, &mine, sizeof mine) > 0 && write(back, &mine, sizeof mine) > 0; ++i) {
      }
    });
    for (int i = 0; i < trips && write(there, &word, sizeof word) > 0 && read(back, &word, sizeof word) > 0; ++i) {
    }
    other.join();
    close(there);
    close(back);
  });
  watch->stop();
  EXPECT_FALSE(watch->complete());
}

}  // namespace
}  // namespace middlemark::witness::witness_test
