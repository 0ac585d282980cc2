#include <middlemark/resources.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <middlemark/settings.hpp>

namespace middlemark {
namespace {

[[noreturn]] void refuse(const std::string& path, int error) {
  throw AdapterError(
      fmt::format("resources: {}: {}", path, std::strerror(error)),
      "a worker reads its memory and processor time there: mount /proc, or raise the limit of open files");
}

/// Parses a number after blanks and leaves the rest in `text`. nullopt if there is none.
std::optional<std::uint64_t> next_number(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Returns a field of /proc/self/status in bytes. `field` begins with a line end, which the kernel escapes in process
/// names, so no process name can contain it.
std::optional<std::uint64_t> bytes_of(std::string_view status, std::string_view field) {
  const std::size_t at = status.find(field);
  if (at == std::string_view::npos) return std::nullopt;
  status.remove_prefix(at + field.size());
  const auto kib = next_number(status);
  if (!kib) return std::nullopt;
  return *kib * 1024;
}

/// Returns the processor time of a thread. The call also makes the kernel update its account of a running thread;
/// without it schedstat and getrusage would be up to one tick (1 to 10 ms) late.
std::optional<std::uint64_t> processor_clock_ns(pid_t tid) noexcept {
  constexpr unsigned per_thread = 4;
  constexpr unsigned scheduler_time = 2;
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3U) | per_thread | scheduler_time);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Parses schedstat: time on the processor, time waiting, number of time slices. Returns nullopt for an empty text: some
/// kernels have no schedstat.
std::optional<ThreadTimes> parse_schedstat(std::string_view text) noexcept {
  const auto on_cpu = next_number(text);
  const auto waiting = next_number(text);
  if (!on_cpu || !waiting) return std::nullopt;
  return ThreadTimes{*on_cpu, *waiting};
}

std::uint64_t nanoseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

/// Returns whether `error` (an errno) means that the thread has ended since its id was read from /proc.
bool thread_ended(int error) noexcept { return error == ENOENT || error == ESRCH; }

}  // namespace

std::uint64_t ended_threads_ns(const Resources& resources) noexcept {
  std::uint64_t living = 0;
  for (const ThreadUse& thread : resources.threads) living += thread.cpu_ns;
  const std::uint64_t all = resources.user_ns + resources.system_ns;
  return all > living ? all - living : 0;  // the difference can be negative: getrusage rounds down to microseconds
}

ProcFile::ProcFile(int directory, const char* path) noexcept
    : descriptor_(openat(directory, path, O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) descriptor_ = -errno;
}

ProcFile::~ProcFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

ProcFile::ProcFile(ProcFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -EBADF)) {}

ProcFile& ProcFile::operator=(ProcFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

std::string_view ProcFile::read(std::span<char> into, std::size_t offset) const noexcept {
  errno = descriptor_ < 0 ? -descriptor_ : 0;
  if (descriptor_ < 0) return {};
  const ssize_t got = pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
  return got > 0 ? std::string_view(into.data(), static_cast<std::size_t>(got)) : std::string_view();
}

ResourceReader::ResourceReader()
    : status_(AT_FDCWD, "/proc/self/status"),
      tasks_(opendir("/proc/self/task")),
      descriptors_(opendir("/proc/self/fd")),
      text_(std::size_t{4} << 10U) {
  if (tasks_ == nullptr) refuse("/proc/self/task", errno);
}

ResourceReader::~ResourceReader() {
  closedir(tasks_);
  if (descriptors_ != nullptr) closedir(descriptors_);
}

Resources ResourceReader::read() {
  Resources resources;
  read_memory(resources);
  resources.descriptors = count_descriptors();
  // Read the totals last, so that they include the time of every thread.
  read_threads(resources);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  resources.user_ns = nanoseconds(usage.ru_utime);
  resources.system_ns = nanoseconds(usage.ru_stime);
  resources.voluntary = static_cast<std::uint64_t>(usage.ru_nvcsw);
  resources.involuntary = static_cast<std::uint64_t>(usage.ru_nivcsw);
  resources.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt);
  resources.major_faults = static_cast<std::uint64_t>(usage.ru_majflt);
  return resources;
}

/// Reads the current and the peak memory. Does not use ru_maxrss, which survives exec: it would be the launcher's peak
/// if the worker used less than the launcher.
void ResourceReader::read_memory(Resources& resources) {
  std::size_t length = 0;
  for (;;) {
    const std::string_view more = status_.read(std::span(text_).subspan(length), length);
    if (more.empty() && errno != 0) refuse("/proc/self/status", errno);
    if (more.empty()) break;
    length += more.size();
    if (length == text_.size()) text_.resize(2 * length);  // the list of the user's groups can be long
  }
  const std::string_view status(text_.data(), length);
  const auto now = bytes_of(status, "\nVmRSS:");
  const auto peak = bytes_of(status, "\nVmHWM:");
  if (!now || !peak) refuse("/proc/self/status, VmRSS and VmHWM", ENODATA);
  resources.rss_bytes = *now;
  resources.peak_rss_bytes = *peak;
  resources.private_bytes = bytes_of(status, "\nRssAnon:");
}

std::optional<std::uint64_t> ResourceReader::count_descriptors() const {
  if (descriptors_ == nullptr) return std::nullopt;
  rewinddir(descriptors_);
  std::uint64_t count = 0;
  while (const dirent* entry = readdir(descriptors_)) count += entry->d_name[0] != '.' ? 1 : 0;
  return count;
}

void ResourceReader::read_threads(Resources& resources) {
  std::vector<ThreadFiles> listed;
  listed.reserve(threads_.size());
  resources.threads.reserve(threads_.size());
  rewinddir(tasks_);
  for (const dirent* entry = readdir(tasks_); entry != nullptr; entry = readdir(tasks_)) {
    std::string_view digits(entry->d_name);
    const auto number = next_number(digits);
    if (!number) continue;  // . and ..
    const auto tid = static_cast<pid_t>(*number);
    ThreadFiles files = files_of(tid);
    auto use = read_thread(files);
    if (!use && thread_ended(errno)) {  // another thread may have its id now
      files = open_thread(tid);
      use = read_thread(files);
    }
    if (!use && thread_ended(errno)) continue;
    if (!use) refuse(fmt::format("/proc/self/task/{}/comm", tid), errno);
    resources.threads.push_back(std::move(*use));
    listed.push_back(std::move(files));
  }
  threads_ = std::move(listed);
}

ResourceReader::ThreadFiles ResourceReader::open_thread(pid_t tid) const {
  std::array<char, 32> comm{};
  std::array<char, 32> schedstat{};
  std::snprintf(comm.data(), comm.size(), "%d/comm", tid);
  std::snprintf(schedstat.data(), schedstat.size(), "%d/schedstat", tid);
  return {tid, ProcFile(dirfd(tasks_), comm.data()), ProcFile(dirfd(tasks_), schedstat.data())};
}

/// Returns the open files of a thread: moves them out of `threads_` if the previous reading kept them, and opens them
/// otherwise.
ResourceReader::ThreadFiles ResourceReader::files_of(pid_t tid) {
  const auto kept = std::ranges::find(threads_, tid, &ThreadFiles::tid);
  if (kept == threads_.end()) return open_thread(tid);
  kept->tid = 0;
  return {tid, std::move(kept->comm), std::move(kept->schedstat)};
}

/// Returns nullopt, with errno set, if the thread does not exist or its name cannot be read.
std::optional<ThreadUse> ResourceReader::read_thread(const ThreadFiles& files) {
  std::array<char, 128> text{};
  std::string_view name = files.comm.read(text);
  if (name.empty()) return std::nullopt;
  name.remove_suffix(name.ends_with('\n') ? 1 : 0);
  ThreadUse use;
  use.tid = files.tid;
  use.name = name;
  const auto clock_ns = processor_clock_ns(files.tid);
  if (const auto times = parse_schedstat(files.schedstat.read(text))) {
    use.cpu_ns = times->on_cpu_ns;
    use.waiting_ns = times->waiting_ns;
  } else if (clock_ns) {
    use.cpu_ns = *clock_ns;
  } else {
    errno = ESRCH;
    return std::nullopt;
  }
  return use;
}

std::optional<ThreadTimes> thread_times(pid_t tid) noexcept {
  const pid_t thread = tid == 0 ? gettid() : tid;
  static_cast<void>(processor_clock_ns(thread));
  std::array<char, 48> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/schedstat", thread);
  std::array<char, 128> text{};
  return parse_schedstat(ProcFile(AT_FDCWD, path.data()).read(text));
}

}  // namespace middlemark
