#include <middlemark/witness/gaps.hpp>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <thread>

#include <middlemark/clock.hpp>
#include <middlemark/placement.hpp>
#include <middlemark/resources.hpp>

namespace middlemark::witness {
namespace {

/// Returns how often this thread has been preempted.
std::uint64_t preemptions() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_nivcsw);
}

/// Returns how long this thread was runnable while another thread ran; 0 if the kernel does not report it.
std::uint64_t waited_ns() noexcept {
  const auto times = thread_times();
  return times ? times->waiting_ns : 0;
}

void spin(Stillness& found, std::uint64_t until_ns) noexcept {
  std::uint64_t before = preemptions();
  const std::uint64_t begin = monotonic_ns();
  std::uint64_t previous = begin;
  while (previous < until_ns) {
    const std::uint64_t now = monotonic_ns();
    if (now - previous < Durations::least_ns) {
      previous = now;
      continue;
    }
    const std::uint64_t preempted = preemptions();
    (preempted == before ? found.gaps : found.taken).add(now - previous);
    before = preempted;
    previous = monotonic_ns();
  }
  found.spun_ns += previous - begin;
}

void sleep(Stillness& found, std::uint64_t until_ns) noexcept {
  std::uint64_t before = waited_ns();
  for (std::uint64_t now = monotonic_ns(); now + sleep_ns < until_ns; now = monotonic_ns()) {
    const std::uint64_t due = now + sleep_ns;
    const timespec at{static_cast<time_t>(due / 1'000'000'000), static_cast<long>(due % 1'000'000'000)};
    if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) != 0) return;
    const std::uint64_t woken = monotonic_ns();
    const std::uint64_t late_ns = woken - std::min(woken, due);
    const std::uint64_t waited = waited_ns();
    if (waited - before > late_ns / 2) {  // most of the delay was a wait for another thread
      found.taken.add(late_ns);
    } else {
      ++found.wakes;
      found.waited_ns += waited - before;
      found.late.add(late_ns);
    }
    before = waited;
  }
}

/// Gives this thread an ordinary priority, because a spinner with a real-time priority could block the processor
/// forever. Sets the timer slack to 1 ns.
void drop_real_time_priority() noexcept {
  const sched_param none{};
  sched_setscheduler(0, SCHED_OTHER, &none);
  prctl(PR_SET_TIMERSLACK, 1);
}

void probe_one(Stillness& found, bool sleeps, std::uint64_t duration_ns) {
  drop_real_time_priority();
  pin_thread(found.cpu);
  const std::uint64_t begin = monotonic_ns();
  if (sleeps) sleep(found, begin + duration_ns / 2);
  spin(found, begin + duration_ns);
}

}  // namespace

void Durations::add(std::uint64_t ns) noexcept {
  if (ns < least_ns) return;
  const auto octave = static_cast<std::size_t>(std::bit_width(ns / least_ns)) - 1;
  ++counts_[std::min(octave, buckets - 1)];
  longest_ns_ = std::max(longest_ns_, ns);
  total_ns_ += ns;
}

std::vector<Stillness> probe(const ProbeRequest& request) {
  const std::uint64_t duration_ns = std::min(request.duration_ns, longest_probe_ns);
  std::vector<Stillness> found(request.cpus.size());
  std::vector<std::exception_ptr> failures(request.cpus.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t at = 0; at < found.size(); ++at) {
      found[at].cpu = request.cpus[at];
      const bool sleeps = std::ranges::find(request.sleeping, request.cpus[at]) != request.sleeping.end();
      threads.emplace_back([&result = found[at], &failure = failures[at], sleeps, duration_ns] {
        try {
          probe_one(result, sleeps, duration_ns);
        } catch (...) {
          failure = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return found;
}

}  // namespace middlemark::witness
