#include <middlemark/placement.hpp>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <middlemark/settings.hpp>

namespace middlemark {
namespace {

cpu_set_t mask_of(const std::vector<int>& cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) throw AdapterError(fmt::format("placement: there is no processor {}", cpu));
    CPU_SET(static_cast<std::size_t>(cpu), &mask);
  }
  return mask;
}

int policy_of(Policy policy) {
  return policy == Policy::fifo ? SCHED_FIFO : policy == Policy::rr ? SCHED_RR : SCHED_OTHER;
}

void set_policy(int policy, int priority) {
  sched_param parameters{};
  parameters.sched_priority = policy == SCHED_OTHER ? 0 : priority;
  if (sched_setscheduler(0, policy, &parameters) != 0) {
    throw AdapterError(
        fmt::format("placement: real-time priority {} refused: {}", priority, std::strerror(errno)),
        "run as root, or allow it: `setcap cap_sys_nice+ep` on the worker, or `rtprio` in /etc/security/limits.conf");
  }
}

void limit_real_time(double seconds) {
  const auto soft = static_cast<rlim_t>(std::ceil(seconds * 1e6));
  // The soft limit sends SIGXCPU, which ends the worker; the hard limit, one second later, sends SIGKILL.
  const rlimit limit{soft, soft + 1'000'000};
  if (setrlimit(RLIMIT_RTTIME, &limit) != 0) {
    throw AdapterError(
        fmt::format("placement: RLIMIT_RTTIME of {} s refused: {}; without this guard a spinning real-time "
                    "role could freeze the machine",
                    seconds, std::strerror(errno)));
  }
}

/// Makes the kernel kill this worker first when memory runs out, so that a flood of messages that uses up the memory
/// does not end another process. A process may raise its own score without a permission. If that fails nevertheless,
/// the kernel kills the largest process, which is usually the worker.
void prefer_for_oom_killer() {
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score < 0) return;
  [[maybe_unused]] const auto written = write(score, "1000", 4);
  close(score);
}

}  // namespace

void guard_process() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_TIMERSLACK, 1);  // the default of 50 us is added to every timed wake-up
  signal(SIGPIPE, SIG_IGN);
  prefer_for_oom_killer();
}

void place_process(const Placement& placement) {
  if (!placement.cpus.empty()) {
    const cpu_set_t mask = mask_of(placement.cpus);
    if (sched_setaffinity(0, sizeof mask, &mask) != 0) {
      throw AdapterError(
          fmt::format("placement: processors {} refused: {}", fmt::join(placement.cpus, ","), std::strerror(errno)),
          "`nproc` and `taskset -p $$` show which processors this process may use");
    }
  }
  if (placement.mlock && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    throw AdapterError(fmt::format("placement: mlockall refused: {}", std::strerror(errno)),
                       "raise `memlock` in /etc/security/limits.conf, or run as root");
  }
  const int policy = policy_of(placement.policy);
  if (policy != SCHED_OTHER) {
    limit_real_time(placement.rt_limit_s);
    set_policy(policy, placement.priority);
  }
}

void pin_thread(int cpu) {
  const cpu_set_t mask = mask_of({cpu});
  if (sched_setaffinity(0, sizeof mask, &mask) != 0) {
    throw AdapterError(fmt::format("placement: processor {} refused: {}", cpu, std::strerror(errno)));
  }
}

void raise_priority(const Placement& placement, int by) {
  const int policy = policy_of(placement.policy);
  if (policy != SCHED_OTHER) set_policy(policy, std::clamp(placement.priority + by, 1, 99));
}

InForce placed(const Placement& asked) {
  InForce found;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &mask)) found.cpus.push_back(cpu);
    }
  }
  const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  found.policy = policy == SCHED_FIFO ? Policy::fifo : policy == SCHED_RR ? Policy::rr : Policy::other;
  sched_param parameters{};
  if (sched_getparam(0, &parameters) == 0) found.priority = parameters.sched_priority;
  if (asked.mlock) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmLck:")) found.mlocked = line.find_first_of("123456789") != std::string::npos;
    }
  }
  return found;
}

}  // namespace middlemark
