// Common code of the programs with which the adapters are compared. They use a middleware directly, without the core.
// Starts two processes, each on its own processor, and prints the p50 of the round trip. C++17, because the headers of
// some middlewares do not compile with newer versions.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace middlemark::direct {

inline std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// For each message calls `write(i)` and then measures the time of `round_trip()`. Prints the p50 in ns, without the
/// first tenth.
template <class Write, class RoundTrip>
void measure(std::size_t round_trips, Write&& write, RoundTrip&& round_trip) {
  std::vector<std::int64_t> times(round_trips);
  for (std::size_t i = 0; i < round_trips; ++i) {
    write(i);
    const std::int64_t begin = now_ns();
    round_trip();
    times[i] = now_ns() - begin;
  }
  times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(round_trips / 10));
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::printf("%lld\n", static_cast<long long>(*middle));
}

inline void prepare(const char* cpu) {
  alarm(60);
  prctl(PR_SET_TIMERSLACK, 1);
  if (cpu == nullptr) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(std::atoi(cpu)), &one);
  if (sched_setaffinity(0, sizeof one, &one) == 0) return;
  std::perror("sched_setaffinity");
  std::exit(1);
}

/// main() of PROGRAM BYTES ROUND_TRIPS [ping-cpu pong-cpu]. Calls ping(bytes, round trips) and pong(bytes, round
/// trips), each in its own process. Forks before it calls either.
template <class Ping, class Pong>
int run(int argc, char** argv, Ping&& ping, Pong&& pong) {
  const auto number = [&](int i) { return argc > i ? std::strtoul(argv[i], nullptr, 10) : 0; };
  const std::size_t bytes = number(1);
  const std::size_t round_trips = number(2);
  if ((argc != 3 && argc != 5) || bytes < sizeof(std::size_t) || round_trips < 10) {
    std::fprintf(stderr, "usage: %s BYTES ROUND_TRIPS [ping-cpu pong-cpu]   at least 8 bytes and 10 round trips\n",
                 argv[0]);
    return 2;
  }
  const pid_t child = fork();
  if (child < 0) return 1;
  prepare(argc == 5 ? argv[child == 0 ? 4 : 3] : nullptr);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pong(bytes, round_trips);
    std::exit(0);  // lets a middleware clean up at exit
  }
  ping(bytes, round_trips);
  std::fflush(stdout);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}

}  // namespace middlemark::direct
