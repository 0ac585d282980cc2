// A hand-written shared-memory ring without the core: two pinned processes that poll. The sender copies a message into
// the ring, and the receiver reads it in place.
//
//   bare_ring BYTES ROUND_TRIPS [ping-cpu pong-cpu]
//     One slot per direction. Prints the mean of the middle half of the round trips, in ticks of the TSC.
//   bare_ring stream BYTES MESSAGES [publisher-cpu subscriber-cpu]
//     A ring written like the shm adapter's, with the same number of slots as for a stream. The reader updates its cursor
//     after several messages. Prints the number of received messages per second, without the first tenth.
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

struct Slot {
  std::atomic<std::uint64_t> sequence;
  std::byte payload[];
};

void pin(int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(static_cast<std::size_t>(cpu), &mask);
  sched_setaffinity(0, sizeof mask, &mask);
}

std::uint64_t stamp() {
  _mm_lfence();
  return __rdtsc();
}

void pong(Slot& in, Slot& out, std::size_t bytes, std::uint64_t count) {
  std::vector<std::byte> own(bytes);
  for (std::uint64_t n = 1; n <= count; ++n) {
    while (in.sequence.load(std::memory_order_acquire) != n) {
    }
    std::memcpy(own.data(), in.payload, std::min<std::size_t>(bytes, 16));
    std::memcpy(out.payload, own.data(), bytes);
    out.sequence.store(n, std::memory_order_release);
  }
}

std::vector<std::uint64_t> ping(Slot& out, Slot& in, std::size_t bytes, std::uint64_t count) {
  std::vector<std::byte> message(bytes);
  std::vector<std::byte> reply(bytes);
  std::vector<std::uint64_t> round_trips(count);
  for (std::uint64_t n = 1; n <= count; ++n) {
    const std::uint64_t begin = stamp();
    std::memcpy(out.payload, message.data(), bytes);
    out.sequence.store(n, std::memory_order_release);
    while (in.sequence.load(std::memory_order_acquire) != n) {
    }
    std::memcpy(reply.data(), in.payload, std::min<std::size_t>(bytes, 16));
    round_trips[n - 1] = stamp() - begin;
  }
  return round_trips;
}

/// A ring like the shm adapter's, for one subscriber.
class Ring {
 public:
  explicit Ring(std::size_t bytes)
      : bytes_(bytes),
        slot_bytes_((sizeof(Slot) + bytes + line - 1) / line * line),
        slots_(std::bit_floor(std::max<std::size_t>(4, ring_bytes / slot_bytes_))) {
    memory_ = static_cast<std::byte*>(mmap(nullptr, 2 * line + slots_ * slot_bytes_, PROT_READ | PROT_WRITE,
                                           MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  }

  void publish_all(std::uint64_t count) {
    std::vector<std::byte> message(bytes_);
    std::uint64_t full_at = slots_ - 1;
    for (std::uint64_t n = 0; n < count; ++n) {
      while (n == full_at) {
        full_at = cursor().load(std::memory_order_acquire) + slots_ - 1;
        if (n == full_at) sched_yield();
      }
      const TwoWords head{n, n};
      std::memcpy(message.data(), &head, sizeof head);
      copy(slot(n).payload, message.data());
      slot(n).sequence.store(n + 1, std::memory_order_release);
    }
  }

  /// Returns the number of received messages per second, without the first tenth.
  double take_all(std::uint64_t count) {
    const std::uint64_t most_at_once = std::clamp<std::uint64_t>(slots_ / 4, 1, 64);
    std::vector<std::byte> message(bytes_);
    std::uint64_t begin = 0;
    double begin_seconds = 0;
    for (std::uint64_t n = 0; n < count;) {
      const std::uint64_t first = n;
      while (n < count && n - first < most_at_once && slot(n).sequence.load(std::memory_order_acquire) == n + 1) {
        std::memcpy(message.data(), slot(n).payload, std::min<std::size_t>(bytes_, 16));
        ++n;
      }
      if (n == first) continue;
      cursor().store(n, std::memory_order_release);
      if (begin == 0 && n >= count / 10) {
        begin = n;
        begin_seconds = seconds();
      }
    }
    return static_cast<double>(count - begin) / (seconds() - begin_seconds);
  }

 private:
  static constexpr std::size_t line = 64;
  static constexpr std::size_t ring_bytes = std::size_t{16} << 10;  // bytes of slots, as in the shm adapter

  using TwoWords [[gnu::vector_size(16)]] = std::uint64_t;
  /// Copies a message in pieces of the size in which it was stored, as the adapter does.
  void copy(std::byte* to, const std::byte* from) const {
    if (bytes_ > 128 || bytes_ % 16 != 0) {
      std::memcpy(to, from, bytes_);
      return;
    }
    for (std::size_t at = 0; at < bytes_; at += 16) std::memcpy(to + at, from + at, 16);
  }
  static double seconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }
  [[nodiscard]] std::atomic<std::uint64_t>& cursor() const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(memory_);
  }
  [[nodiscard]] Slot& slot(std::uint64_t n) const {
    return *reinterpret_cast<Slot*>(memory_ + 2 * line + (n & (slots_ - 1)) * slot_bytes_);
  }

  std::size_t bytes_;
  std::size_t slot_bytes_;
  std::size_t slots_;
  std::byte* memory_;
};

int round_trips(std::size_t bytes, std::uint64_t count, int ping_cpu, int pong_cpu) {
  const std::size_t slot_bytes = (sizeof(Slot) + bytes + 4095) / 4096 * 4096;
  auto* memory = static_cast<std::byte*>(
      mmap(nullptr, 2 * slot_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  auto& there = *reinterpret_cast<Slot*>(memory);
  auto& back = *reinterpret_cast<Slot*>(memory + slot_bytes);
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(pong_cpu);
    pong(there, back, bytes, count);
    _exit(0);
  }
  pin(ping_cpu);
  std::vector<std::uint64_t> times = ping(there, back, bytes, count);
  wait(nullptr);
  times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(count / 10));
  std::sort(times.begin(), times.end());
  // Compute the mean of the middle half, because the counter's resolution is too coarse for a median.
  double sum = 0;
  const std::size_t quarter = times.size() / 4;
  for (std::size_t i = quarter; i < times.size() - quarter; ++i) sum += static_cast<double>(times[i]);
  std::printf("%.3f\n", sum / static_cast<double>(times.size() - 2 * quarter));
  return 0;
}

int stream(std::size_t bytes, std::uint64_t count, int publisher_cpu, int subscriber_cpu) {
  Ring ring(bytes);
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(publisher_cpu);
    ring.publish_all(count);
    _exit(0);
  }
  pin(subscriber_cpu);
  const double rate = ring.take_all(count);
  wait(nullptr);
  std::printf("%.0f\n", rate);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool streams = argc > 1 && std::strcmp(argv[1], "stream") == 0;
  char** const given = argv + (streams ? 2 : 1);
  const int count = static_cast<int>(argv + argc - given);
  if (count != 2 && count != 4) {
    std::fprintf(stderr,
                 "usage: bare_ring BYTES ROUND_TRIPS [ping-cpu pong-cpu]\n"
                 "       bare_ring stream BYTES MESSAGES [publisher-cpu subscriber-cpu]\n");
    return 2;
  }
  alarm(60);
  const std::size_t bytes = std::max<std::size_t>(16, std::strtoull(given[0], nullptr, 10));
  const std::uint64_t messages = std::strtoull(given[1], nullptr, 10);
  const int first_cpu = count == 4 ? std::atoi(given[2]) : 0;
  const int second_cpu = count == 4 ? std::atoi(given[3]) : 1;
  return streams ? stream(bytes, messages, first_cpu, second_cpu) : round_trips(bytes, messages, first_cpu, second_cpu);
}
