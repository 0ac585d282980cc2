#include <middlemark/witness/awake.hpp>

#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <future>
#include <stop_token>
#include <string>
#include <utility>

#include <middlemark/clock.hpp>
#include <middlemark/placement.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::witness {
namespace {

/// Pins this thread to `cpu` under SCHED_IDLE. Sets the policy first, so that the thread never competes with another.
void run_idle_on(int cpu) {
  const sched_param none{};
  if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) {
    throw AdapterError(std::string("SCHED_IDLE was refused: ") + std::strerror(errno));
  }
  pin_thread(cpu);
  pthread_setname_np(pthread_self(), ("awake " + std::to_string(cpu)).c_str());
}

void spin(const std::stop_token& stop, int cpu, std::uint64_t until_ns, std::promise<void> begun) noexcept {
  try {
    run_idle_on(cpu);
  } catch (...) {
    begun.set_exception(std::current_exception());
    return;
  }
  begun.set_value();
  while (!stop.stop_requested() && monotonic_ns() < until_ns) {
  }
}

}  // namespace

Awake::Awake(const std::vector<int>& cpus, std::uint64_t limit_ns) {
  const std::uint64_t until_ns = monotonic_ns() + limit_ns;
  std::vector<std::future<void>> all;
  for (const int cpu : cpus) {
    std::promise<void> begun;
    all.push_back(begun.get_future());
    threads_.emplace_back(spin, cpu, until_ns, std::move(begun));
  }
  for (auto& ready : all) ready.get();
}

}  // namespace middlemark::witness
