#include <middlemark/witness/switches.hpp>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <middlemark/clock.hpp>

namespace middlemark::witness {
namespace {

constexpr std::size_t page = 4096;
/// Sizes to try, largest first, because locked memory is limited (perf_event_mlock_kb, 516 KiB by default).
constexpr std::size_t ring_pages[] = {1024, 256, 64, 16};
constexpr std::size_t largest_record = 64;
constexpr std::size_t most_spells = std::size_t{1} << 18U;

[[noreturn]] void refuse(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// The fields that sample_id_all appends to each record when TID, TIME and CPU are requested.
struct SampleId {
  std::uint32_t pid;
  std::uint32_t tid;
  std::uint64_t time;
  std::uint32_t cpu;
  std::uint32_t reserved;
};

struct OtherTask {
  std::uint32_t pid;
  std::uint32_t tid;
};

perf_event_attr attributes(bool inherit) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attr.sample_id_all = 1;
  attr.context_switch = 1;
  attr.exclude_kernel = 1;  // ordinary users are refused without this; the event takes no samples in any case
  attr.exclude_hv = 1;
  attr.inherit = inherit ? 1 : 0;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  return attr;
}

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
    found.push_back(static_cast<pid_t>(std::stol(entry.path().filename())));
  }
  return found;
}

}  // namespace

Ring::Ring(WatchScope scope, int cpu, const std::vector<pid_t>& workers, std::size_t most)
    : scope_(scope), cpu_(cpu), occupancy_(cpu, workers, most) {
  try {
    if (scope == WatchScope::processors) {
      open(-1, false);
    } else {  // `inherit` includes the threads that the workers start later
      for (const pid_t worker : workers) {
        for (const pid_t thread : threads_of(worker)) open(thread, true);
      }
      if (events_.empty()) throw std::system_error(ESRCH, std::generic_category(), "perf_event_open");
    }
  } catch (...) {
    unmap();
    throw;
  }
}

Ring::~Ring() { unmap(); }

void Ring::open(pid_t pid, bool inherit) {
  perf_event_attr attr = attributes(inherit);
  attr.wakeup_watermark = static_cast<std::uint32_t>((bytes_ == 0 ? ring_pages[0] * page : bytes_) / 2);
  const auto attempt = [&] {
    return static_cast<int>(syscall(SYS_perf_event_open, &attr, pid, cpu_, -1, PERF_FLAG_FD_CLOEXEC));
  };
  if (!events_.empty()) {
    const int event = attempt();
    if (event < 0 && errno == ESRCH) return;  // the thread has ended
    if (event < 0) refuse("perf_event_open");
    events_.push_back(event);
    if (ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, events_.front()) != 0) refuse("perf_event_open, its ring");
    return;
  }
  int error = 0;
  for (const std::size_t pages : ring_pages) {
    bytes_ = pages * page;
    attr.wakeup_watermark = static_cast<std::uint32_t>(bytes_ / 2);
    const int event = attempt();
    if (event < 0 && errno == ESRCH) return;
    if (event < 0) refuse("perf_event_open");
    void* const memory = mmap(nullptr, page + bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (memory != MAP_FAILED) {
      memory_ = static_cast<char*>(memory);
      events_.push_back(event);
      return;
    }
    error = errno;
    close(event);
  }
  errno = error;
  refuse("perf_event_open, memory for its ring (perf_event_mlock_kb)");
}

void Ring::unmap() noexcept {
  if (memory_ != nullptr) munmap(memory_, page + bytes_);
  for (const int event : events_) close(event);
}

void Ring::stop() noexcept {
  for (const int event : events_) ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
}

void Ring::drain() {
  auto* const control = reinterpret_cast<perf_event_mmap_page*>(memory_);
  const char* const data = memory_ + page;
  std::uint64_t tail = control->data_tail;
  // Acquire: the kernel writes the head after the data. Data before the tail may be overwritten.
  const std::uint64_t head = std::atomic_ref(control->data_head).load(std::memory_order_acquire);
  // Treat a full ring as overflowed: the kernel reports lost records only later, before the next record that fits.
  const bool full = bytes_ - (head - tail) < largest_record;
  while (tail < head) {
    const std::size_t at = tail & (bytes_ - 1);
    const auto* const header = reinterpret_cast<const perf_event_header*>(
        data + at);  // 8 bytes and aligned, so the ring's end never splits it
    const std::size_t size = header->size;
    if (size == 0) break;
    if (at + size <= bytes_) {
      take(data + at);
    } else {
      wrapped_.assign(data + at, data + bytes_);
      wrapped_.insert(wrapped_.end(), data, data + (at + size - bytes_));
      take(wrapped_.data());
    }
    tail += size;
  }
  std::atomic_ref(control->data_tail).store(tail, std::memory_order_release);
  if (full) occupancy_.lose();
}

void Ring::take(const char* record) {
  perf_event_header header{};
  std::memcpy(&header, record, sizeof header);
  SampleId id{};
  std::memcpy(&id, record + header.size - sizeof id, sizeof id);
  ++records_;
  if (header.type == PERF_RECORD_LOST) {
    std::uint64_t number = 0;
    std::memcpy(&number, record + sizeof header + sizeof number, sizeof number);
    lost_ += number;
    occupancy_.lose();
    return;
  }
  const bool out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
  const bool preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
  // Ignore the switch-in records of a processor: the switch-out record before them also names the next task.
  if (header.type == PERF_RECORD_SWITCH_CPU_WIDE && out) {
    OtherTask next{};
    std::memcpy(&next, record + sizeof header, sizeof next);
    occupancy_.follow({id.time, static_cast<pid_t>(id.pid), static_cast<pid_t>(next.pid), preempted});
  } else if (header.type == PERF_RECORD_SWITCH) {
    const auto worker = static_cast<pid_t>(id.pid);
    if (out) {
      occupancy_.follow({id.time, worker, preempted ? somebody : idle, preempted});
    } else {
      occupancy_.follow({id.time, idle, worker, false});
    }
  }
}

SwitchWatch::SwitchWatch(const std::vector<int>& cpus, const std::vector<pid_t>& workers)
    : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  try {
    try {
      open(WatchScope::processors, cpus, workers);
    } catch (const std::system_error& error) {
      if (error.code().value() != EACCES && error.code().value() != EPERM) throw;
      rings_.clear();
      open(WatchScope::workers, cpus, workers);
    }
  } catch (...) {
    rings_.clear();
    close(epoll_);
    throw;
  }
}

SwitchWatch::~SwitchWatch() {
  rings_.clear();
  close(epoll_);
}

void SwitchWatch::open(WatchScope scope, const std::vector<int>& cpus, const std::vector<pid_t>& workers) {
  scope_ = scope;
  for (const int cpu : cpus) {
    rings_.push_back(std::make_unique<Ring>(scope, cpu, workers, most_spells));
    epoll_event ready{};
    ready.events = EPOLLIN;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, rings_.back()->descriptor(), &ready) != 0) refuse("epoll_ctl");
  }
  named_.assign(rings_.size(), 0);
}

void SwitchWatch::drain() {
  for (const auto& ring : rings_) ring->drain();
  read_names();
}

/// Reads the names of the processes in new spells. Called at every drain, because an ended process has no name.
void SwitchWatch::read_names() {
  for (std::size_t at = 0; at < rings_.size(); ++at) {
    const auto& spells = rings_[at]->occupancy().spells();
    for (; named_[at] < spells.size(); ++named_[at]) {
      const pid_t pid = spells[named_[at]].pid;
      if (pid == somebody || names_.contains(pid)) continue;
      std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
      std::getline(comm, names_[pid]);
    }
  }
}

void SwitchWatch::stop() {
  for (const auto& ring : rings_) ring->stop();
  const std::uint64_t now = monotonic_ns();
  for (const auto& ring : rings_) {
    ring->drain();
    ring->occupancy().end(now);
  }
  read_names();
}

Seen SwitchWatch::seen(std::uint64_t from_ns, std::uint64_t to_ns, std::size_t most) const {
  std::vector<Spell> spells;
  for (const auto& ring : rings_) {
    const auto& ring_spells = ring->occupancy().spells();
    spells.insert(spells.end(), ring_spells.begin(), ring_spells.end());
  }
  return summary_between(spells, from_ns, to_ns, most);
}

bool SwitchWatch::complete() const {
  return std::ranges::all_of(rings_,
                             [](const auto& ring) { return ring->lost() == 0 && ring->occupancy().complete(); });
}

std::uint64_t SwitchWatch::records() const {
  std::uint64_t all = 0;
  for (const auto& ring : rings_) all += ring->records();
  return all;
}

std::uint64_t SwitchWatch::lost() const {
  std::uint64_t all = 0;
  for (const auto& ring : rings_) all += ring->lost();
  return all;
}

std::string SwitchWatch::name(pid_t pid) const {
  const auto found = names_.find(pid);
  return found == names_.end() ? std::string() : found->second;
}

}  // namespace middlemark::witness
