// Tests the ring of the raw shared-memory transport: its number of slots, its cursors, and the wake-up of a sleeper.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <middlemark/kit/deadline.hpp>

#include "shm/adapter.hpp"
#include "shm/ring.hpp"

namespace middlemark::shm::shm_ring_test {
namespace {

using namespace std::chrono_literals;

TEST(RingLayout, has_a_slot_to_write_in_besides_the_history) {
  for (std::size_t depth = 1; depth <= 130; ++depth) {
    EXPECT_GE(RingLayout::of(64 << 10, 1, depth, {.bytes = 0, .least = 2}, std::size_t{1} << 29).depth(), depth);
  }
}

TEST(RingLayout, stays_within_its_byte_limit_and_has_at_least_two_slots) {
  EXPECT_EQ(RingLayout::of(1 << 20, 1, 100, {.bytes = 0, .least = 2}, std::size_t{8} << 20).slots, 4U);
  EXPECT_EQ(RingLayout::of(1 << 20, 1, 100, {.bytes = 0, .least = 2}, 1).slots, 2U);
}

TEST(Ring, finds_the_slowest_subscriber) {
  const Ring ring("middlemark.test." + std::to_string(getpid()),
                  RingLayout::of(64, 3, 4, {.bytes = 0, .least = 2}, 1 << 20));
  ring.unlink();
  for (const std::size_t slowest : {0U, 1U, 2U}) {
    for (std::size_t i = 0; i < 3; ++i) ring.cursor(i) = i == slowest ? 5 : 7;
    EXPECT_EQ(ring.slowest_cursor(), 5U);
  }
}

TEST(Bell, wakes_a_sleeper) {
  const Doorbell doorbell("middlemark.test." + std::to_string(getpid()));
  doorbell.unlink();
  std::atomic<bool> ready{false};
  const kit::Deadline deadline(60s);
  std::jthread sleeper([&] {
    while (!ready) doorbell.bell().sleep_unless([&ready] { return ready.load(); }, 60s);
  });
  std::this_thread::sleep_for(20ms);
  ready = true;
  doorbell.bell().ring();
  sleeper.join();
  EXPECT_FALSE(deadline.passed()) << "the sleeper woke only at its timeout";
}

TEST(SharedMemory, leaves_no_segment_behind) {
  Settings settings;
  settings.transport = "shm";
  settings.reception = Reception::block;
  settings.scope = "mmtest_" + std::to_string(getpid());
  {
    SharedMemory adapter(settings);
    const Topic topic{settings.scope + "_topic", 64};
    const Subscriber subscriber = adapter.subscriber(topic, 0);
    const Publisher publisher = adapter.publisher(topic, 0);
  }
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    EXPECT_EQ(entry.path().string().find(settings.scope + "_"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace middlemark::shm::shm_ring_test
