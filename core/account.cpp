#include <middlemark/account.hpp>

#include <algorithm>

#include <middlemark/clock.hpp>

namespace middlemark {

Account AccountReader::read(const Session& session) {
  Account account;
  account.at_ns = monotonic_ns();
  account.resources = reader_.read();
  for (const auto& role : session.roles()) {
    account.roles.push_back(counts(*role, account.resources, account.at_ns));
    account.resources.bench_bytes += role->kept_bytes();
    if (!session.reports_latencies() || !role->has_latencies()) continue;
    NewLatencies& latencies = latencies_[role.get()];
    role->read_latencies(latencies);
    account.latencies.push_back(latencies.taken(role->kind, role->index));
  }
  return account;
}

Counts AccountReader::counts(const Role& role, const Resources& resources, std::uint64_t now_ns) {
  const Progress& progress = role.progress;
  const auto figure = [](const std::atomic<std::uint64_t>& count) { return count.load(std::memory_order_relaxed); };
  Counts counts;
  counts.role = role.kind;
  counts.index = role.index;
  if (role.sends()) {
    counts.sent = figure(progress.sent);
    counts.publish_failed = figure(progress.publish_failed);
  }
  if (role.kind == RoleKind::publisher) {
    counts.blocked_ns = blocked_ns(role, resources, now_ns);
  } else {
    counts.received = figure(progress.received);
  }
  if (role.kind == RoleKind::subscriber) {
    counts.duplicated = figure(progress.duplicated);
    counts.reordered = figure(progress.reordered);
    counts.damaged = figure(progress.damaged);
  }
  return counts;
}

std::optional<std::uint64_t> AccountReader::blocked_ns(const Role& role, const Resources& resources,
                                                       std::uint64_t now_ns) {
  const int tid = role.progress.thread_id.load(std::memory_order_relaxed);
  const auto now = std::ranges::find(resources.threads, tid, &ThreadUse::tid);
  if (now == resources.threads.end() || !now->waiting_ns || !role.progress.measures.load(std::memory_order_acquire)) {
    return std::nullopt;
  }
  const std::uint64_t sleeping_ns = role.progress.sleeping_ns.load(std::memory_order_relaxed);
  const auto [found, first] = begins_.try_emplace(tid, Begin{now_ns, *now, sleeping_ns});
  const Begin& begin = found->second;
  const std::uint64_t accounted = (now->cpu_ns - begin.use.cpu_ns) + (*now->waiting_ns - *begin.use.waiting_ns) +
                                  (sleeping_ns - std::min(sleeping_ns, begin.sleeping_ns));
  const std::uint64_t wall = now_ns - begin.at_ns;
  return wall - std::min(wall, accounted);
}

}  // namespace middlemark
