#include <middlemark/futex.hpp>

#include <sys/mman.h>

#include <atomic>
#include <new>
#include <thread>

#include <gtest/gtest.h>

#include <middlemark/clock.hpp>
#include <middlemark/roles/progress.hpp>

#include "support/child.hpp"

namespace middlemark::futex_test {
namespace {

using namespace std::chrono_literals;

class Futex : public testing::TestWithParam<FutexScope> {};

TEST_P(Futex, a_wait_without_a_wake_reports_the_timeout) {
  const std::atomic<std::uint32_t> word{7};
  const std::uint64_t begin = monotonic_ns();
  // Spurious wake-ups are allowed, so wait again until the timeout is reported.
  while (futex_wait(word, 7, 20ms, GetParam())) {
  }
  EXPECT_GE(monotonic_ns() - begin, 19'000'000U);
}

TEST_P(Futex, seconds_and_nanoseconds_of_a_timeout_both_count) {
  const std::atomic<std::uint32_t> word{0};
  const std::uint64_t begin = monotonic_ns();
  while (futex_wait(word, 0, 1s + 5ms, GetParam())) {
  }
  EXPECT_GE(monotonic_ns() - begin, 1'004'000'000U);
}

TEST_P(Futex, a_wait_for_a_word_that_has_changed_returns_at_once) {
  const std::atomic<std::uint32_t> word{1};
  EXPECT_TRUE(futex_wait(word, 0, 1h, GetParam()));
}

TEST_P(Futex, a_sleeper_is_woken) {
  std::atomic<std::uint32_t> word{0};
  std::thread sleeper([&word] {
    while (word.load(std::memory_order_acquire) == 0) futex_wait(word, 0, 1h, GetParam());
  });
  std::this_thread::sleep_for(10ms);
  word.store(1, std::memory_order_release);
  futex_wake(word, 1, GetParam());
  sleeper.join();
}

TEST_P(Futex, all_sleepers_are_woken_on_request) {
  std::atomic<std::uint32_t> word{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 4; ++i) {
    sleepers.emplace_back([&word] {
      while (word.load(std::memory_order_acquire) == 0) futex_wait(word, 0, 1h, GetParam());
    });
  }
  std::this_thread::sleep_for(10ms);
  word.store(1, std::memory_order_release);
  futex_wake(word, std::numeric_limits<int>::max(), GetParam());
  for (std::thread& sleeper : sleepers) sleeper.join();
}

INSTANTIATE_TEST_SUITE_P(Scope, Futex, testing::Values(FutexScope::process, FutexScope::shared),
                         [](const auto& parameter) {
                           return parameter.param == FutexScope::process ? "within_a_process" : "shared";
                         });

TEST(FutexShared, wakes_across_processes) {
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const words = new (memory) std::atomic<std::uint32_t>[2]{};
  const test::ChildEnd end = test::in_child([words] {
    const pid_t parent = getpid();
    const pid_t sleeper = fork();
    if (sleeper == 0) {
      words[1].store(1, std::memory_order_release);
      while (words[0].load(std::memory_order_acquire) == 0) futex_wait(words[0], 0, 1h, FutexScope::shared);
      _exit(17);
    }
    while (words[1].load(std::memory_order_acquire) == 0) usleep(100);
    usleep(10'000);
    words[0].store(1, std::memory_order_release);
    futex_wake(words[0], 1, FutexScope::shared);
    int status = 0;
    waitpid(sleeper, &status, 0);
    return std::string(getpid() == parent && WIFEXITED(status) && WEXITSTATUS(status) == 17 ? "woken" : "not woken");
  });
  EXPECT_EQ(end.report, "woken") << end.how();
  munmap(memory, 4096);
}

TEST(StopSignal, wakes_a_role_that_sleeps_until_it_is_stopped) {
  StopSignal stop;
  EXPECT_FALSE(stop.requested());
  std::thread role([&stop] { stop.sleep_until_requested(); });
  std::this_thread::sleep_for(5ms);
  stop.request();
  role.join();
  EXPECT_TRUE(stop.requested());
  stop.sleep_until_requested();  // returns at once after an earlier request
}

}  // namespace
}  // namespace middlemark::futex_test
