// Cost of reading the resources during a stream. The cost of one reading per second would be smaller than the noise. So
// the program alternates turns in which the control thread reads a thousand times per second with turns in which it
// only wakes a thousand times per second. One reading per second costs a thousandth of the difference. Each processor
// runs a role of the stream, so every reading interrupts a role. Prints the ratio and the cost.
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include <middlemark/clock.hpp>
#include <middlemark/placement.hpp>
#include <middlemark/json.hpp>
#include <middlemark/resources.hpp>

namespace {

using namespace middlemark;

constexpr std::size_t message_bytes = 64;
constexpr std::uint64_t slots = 1024;
constexpr int threads_of_the_middleware = 8;
constexpr std::uint64_t turn_ns = 250'000'000;

struct Ring {
  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> taken{0};
  alignas(64) std::array<std::array<char, message_bytes>, slots> messages{};
};

void publish(Ring& ring, const std::atomic<bool>& over) {
  std::array<char, message_bytes> message{};
  for (std::uint64_t sequence = 0; !over.load(std::memory_order_relaxed); ++sequence) {
    while (sequence - ring.taken.load(std::memory_order_acquire) >= slots) {
      if (over.load(std::memory_order_relaxed)) return;
    }
    std::memcpy(message.data(), &sequence, sizeof sequence);
    ring.messages[sequence % slots] = message;
    ring.written.store(sequence + 1, std::memory_order_release);
  }
}

void subscribe(Ring& ring, const std::atomic<bool>& over) {
  std::uint64_t wrong = 0;
  for (std::uint64_t sequence = 0;; ++sequence) {
    while (ring.written.load(std::memory_order_acquire) == sequence) {
      if (over.load(std::memory_order_relaxed)) return;
    }
    std::uint64_t found = 0;
    std::memcpy(&found, ring.messages[sequence % slots].data(), sizeof found);
    wrong += found != sequence ? 1 : 0;
    if (wrong != 0) std::abort();
    ring.taken.store(sequence + 1, std::memory_order_release);
  }
}

struct Turn {
  double messages_per_s = 0;
  double wake_ups_per_s = 0;
};

/// Does the control thread's work for one turn. Without a `reader` it only wakes.
Turn turn(const Ring& ring, ResourceReader* reader) {
  const std::uint64_t began = monotonic_ns();
  const std::uint64_t first = ring.taken.load();
  std::size_t bytes = 0;
  int wake_ups = 0;
  for (; monotonic_ns() - began < turn_ns; ++wake_ups) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
    if (reader != nullptr) bytes += json_of(reader->read()).dump().size();
  }
  const double seconds = static_cast<double>(monotonic_ns() - began) / 1e9;
  if (reader != nullptr && bytes == 0) std::abort();
  return {static_cast<double>(ring.taken.load() - first) / seconds, wake_ups / seconds};
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

}  // namespace

int main() {
  guard_process();
  const std::vector<int> cpus = placed({}).cpus;
  Ring ring;
  std::atomic<bool> over{false};
  std::latch end(1);
  std::vector<std::jthread> threads;
  for (int i = 0; i < threads_of_the_middleware; ++i) threads.emplace_back([&end] { end.wait(); });
  threads.emplace_back([&] {
    pin_thread(cpus.front());
    publish(ring, over);
  });
  threads.emplace_back([&] {
    pin_thread(cpus.back());
    subscribe(ring, over);
  });

  ResourceReader reader;
  static_cast<void>(turn(ring, &reader));
  std::vector<double> ratios;
  std::vector<double> costs;
  for (int round = 0; round < 41; ++round) {
    std::array<Turn, 2> turns;  // [0] without readings, [1] with readings
    for (const bool reading : {round % 2 == 0, round % 2 != 0})
      turns[reading] = turn(ring, reading ? &reader : nullptr);
    ratios.push_back(turns[1].messages_per_s / turns[0].messages_per_s);
    costs.push_back((1 - ratios.back()) / turns[1].wake_ups_per_s);
  }
  std::printf("%zu threads, one reading per ms: %.4f of the stream's rate; so one per second costs %.5f %%\n",
              reader.read().threads.size(), median(ratios), 100 * median(costs));
  over = true;
  end.count_down();
  return 0;
}
