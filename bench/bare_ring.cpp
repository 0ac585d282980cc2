// A polling round trip through shared memory written bare, as one would by hand: two processes, pinned, one slot each way, copied
// in at each end and read in place. Nothing of the core is used. Prints the mean of the middle half of the round trips, in ticks of the TSC.
//
//   bare_ring BYTES ROUND_TRIPS [ping-cpu pong-cpu]
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    std::fprintf(stderr, "usage: bare_ring BYTES ROUND_TRIPS [ping-cpu pong-cpu]\n");
    return 2;
  }
  const std::size_t bytes = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  const std::size_t slot_bytes = (sizeof(Slot) + bytes + 4095) / 4096 * 4096;
  auto* memory = static_cast<std::byte*>(
      mmap(nullptr, 2 * slot_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  auto& there = *reinterpret_cast<Slot*>(memory);
  auto& back = *reinterpret_cast<Slot*>(memory + slot_bytes);
  alarm(60);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(argc == 5 ? std::atoi(argv[4]) : 1);
    pong(there, back, bytes, count);
    _exit(0);
  }
  pin(argc == 5 ? std::atoi(argv[3]) : 0);
  std::vector<std::uint64_t> round_trips = ping(there, back, bytes, count);
  waitpid(child, nullptr, 0);
  round_trips.erase(round_trips.begin(), round_trips.begin() + static_cast<std::ptrdiff_t>(count / 10));
  std::sort(round_trips.begin(), round_trips.end());
  // The mean of the middle half: the counter's stride is too coarse for a median.
  double sum = 0;
  const std::size_t quarter = round_trips.size() / 4;
  for (std::size_t i = quarter; i < round_trips.size() - quarter; ++i) sum += static_cast<double>(round_trips[i]);
  std::printf("%.3f\n", sum / static_cast<double>(round_trips.size() - 2 * quarter));
  return 0;
}
