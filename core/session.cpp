#include <middlemark/session.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace middlemark {

std::string Session::waiting_for() {
  std::string missing;
  // Ask all roles, even if one still waits, so that the message lists every role that waits.
  std::vector<Role*> order;
  for (const bool senders : {true, false}) {
    for (const auto& role : roles_) {
      if (role->sends() == senders) order.push_back(role.get());
    }
  }
  const auto compare = [&missing](const Role& role, std::size_t found, std::size_t expected, const char* what) {
    if (found >= expected) return;
    missing += fmt::format("{}{} found {} of {} {}", missing.empty() ? "" : "; ", role.name(), found, expected, what);
  };
  for (Role* const role : order) {
    compare(*role, role->matched(), role->expected(), "subscribers");
    const Found publishers = role->publishers();
    compare(*role, publishers.found, publishers.expected, "publishers");
  }
  return missing;
}

std::string Session::protected_by() const {
  const Security level = configuration_.settings.security;
  if (level == Security::none) return {};
  std::string by = protection();
  if (by.empty())
    throw AdapterError(fmt::format("security {} was requested, but the adapter reports no algorithm", word(level)));
  return by;
}

void Session::publish_histories() {
  for (const auto& role : roles_) role->publish_history();
}

void Session::join_late() {
  count_roles();
  for (const auto& role : roles_) {
    if (role->history() == 0) continue;
    role->join();
    launch(*role);
  }
}

bool Session::history_incomplete() {
  std::uint64_t due = 0;
  std::uint64_t received = 0;
  for (const auto& role : roles_) {
    due += role->history();
    received += role->progress.history.load(std::memory_order_relaxed);
  }
  return due > 0 && !histories_.ended(due, received, 0);
}

bool Session::run_early() {
  const auto early = [](const auto& role) { return role->runs_before_start(); };
  if (!std::ranges::any_of(roles_, early)) return false;
  count_roles();
  for (const auto& role : roles_) {
    if (early(role)) launch(*role);
  }
  return true;
}

void Session::start() {
  if (threads_.empty()) count_roles();
  for (const auto& role : roles_) {
    sending_ += role->sends() ? 1 : 0;
    if (role->runs_before_start()) role->start();
  }
  for (const auto& role : roles_) {
    if (!role->sends() && role->history() == 0) launch(*role);
  }
  for (const auto& role : roles_) {  // every receiver must be in its loop before a sender starts
    // Sleep instead of yielding: this thread may have a higher priority than the role and run on its processor.
    while (!role->sends() && role->progress.phase.load(std::memory_order_acquire) == Phase::waiting) {
      const timespec pause{0, 50'000};
      nanosleep(&pause, nullptr);
    }
  }
  for (const auto& role : roles_) {
    if (role->sends() && !role->runs_before_start()) launch(*role);
  }
}

void Session::enter(const CrowdCommand& command) noexcept {
  for (const auto& role : roles_) role->enter(command);
}

std::vector<Peers> Session::peers() const {
  std::vector<Peers> all;
  for (const auto& role : roles_) all.push_back({.index = role->index, .found = role->peers()});
  return all;
}

void Session::launch(Role& role) {
  role.progress.wake = Wake(wake_);
  threads_.emplace_back([this, &role] { run(role); });
}

void Session::run(Role& role) noexcept {
  pthread_setname_np(pthread_self(), role.name().substr(0, 15).c_str());
  role.progress.thread_id.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_relaxed);
  try {
    // Set the requested priority: the thread inherits the control thread's, which may be one higher.
    if (role.cpu) pin_thread(*role.cpu);
    raise_priority(configuration_.placement, 0);
    role.run();
  } catch (...) {
    {
      const std::lock_guard lock(failure_mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
    for (const auto& other : roles_) other->progress.stop.request();  // without this role they could only time out
  }
  role.progress.phase.store(Phase::ended, std::memory_order_release);
  if (configuration_.tells_ends) {
    role.progress.wake();
  } else if (role.sends() && sending_.fetch_sub(1) == 1) {
    stop_receivers();
  }
  if (running_.fetch_sub(1) == 1) role.progress.wake();
  dismissed_.wait(false);  // keep the thread alive until its resources have been read
}

void Session::join() noexcept {
  dismissed_.store(true);
  dismissed_.notify_all();
  threads_.clear();
}

/// Stops the receivers of this process after its last sender has ended, with the number of messages that were sent.
void Session::stop_receivers() noexcept {
  for (const auto& receiver : roles_) {
    if (receiver->sends()) continue;
    std::uint64_t expected = nothing_expected;
    for (const auto& sender : roles_) {
      if (sender->sends() && sender->topic == receiver->topic)
        expected += sender->progress.sent.load(std::memory_order_relaxed);
    }
    if (receiver->part != Role::Part::drains) expected = nothing_expected;
    receiver->progress.expected.store(expected, std::memory_order_relaxed);
    receiver->progress.stop.request();
  }
}

void Session::request_stop(std::uint64_t expected) noexcept {
  bool sends = false;
  for (const auto& role : roles_) {
    if (!role->sends()) continue;
    role->progress.stop.request();
    sends = true;
  }
  if (sends && running_.load() > 0 && !configuration_.tells_ends) return;  // the last sender stops the receivers
  for (const auto& role : roles_) {
    role->progress.expected.store(expected, std::memory_order_relaxed);
    role->progress.stop.request();
  }
}

void Session::request_stop(const std::vector<unsigned>& subscribers, std::uint64_t expected) noexcept {
  for (const auto& role : roles_) {
    if (role->kind != RoleKind::subscriber || std::ranges::find(subscribers, role->index) == subscribers.end())
      continue;
    role->progress.expected.store(expected, std::memory_order_relaxed);
    role->progress.stop.request();
  }
}

std::vector<EndedEvent> Session::new_ends() {
  std::vector<EndedEvent> all;
  if (!configuration_.tells_ends) return all;
  for (const auto& role : roles_) {
    if (role->progress.phase.load(std::memory_order_acquire) != Phase::ended || !reported_.insert(role.get()).second)
      continue;
    all.push_back({.role = role->kind,
                   .index = role->index,
                   .sent = role->progress.sent.load(std::memory_order_relaxed),
                   .forwarded = role->forwarded_messages()});
  }
  return all;
}

bool Session::all_stopping() const noexcept {
  if (!configuration_.tells_ends) return true;
  return std::ranges::all_of(roles_, [](const auto& role) {
    return role->progress.stop.requested() || role->progress.phase.load() == Phase::ended;
  });
}

void Session::drain_wake() const noexcept {
  std::uint64_t wakes = 0;
  [[maybe_unused]] const auto taken = read(wake_, &wakes, sizeof wakes);
}

bool Session::measures() const noexcept {
  for (const auto& role : roles_) {
    if (role->progress.measures.load(std::memory_order_acquire)) return true;
  }
  return false;
}

bool Session::drains() const noexcept {
  return std::ranges::any_of(roles_, [](const auto& role) {
    return role->part == Role::Part::drains &&
           role->progress.expected.load(std::memory_order_relaxed) != nothing_expected;
  });
}

std::vector<Concluded> Session::conclude() {
  join();
  if (failure_) std::rethrow_exception(failure_);
  std::vector<Concluded> results;
  for (const bool senders : {true, false}) {
    for (const auto& role : roles_) {
      if (role->sends() != senders) continue;
      role->keep();
      results.push_back({role->result(), role->failure()});
      for (AnyRoleResult& result : role->forwarded()) results.push_back({std::move(result), std::nullopt});
    }
  }
  return results;
}

const Role& Session::leading() const noexcept {
  for (const auto& role : roles_) {
    if (role->sends()) return *role;
  }
  return *roles_.front();
}

}  // namespace middlemark
