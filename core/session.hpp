// The roles of one worker over one opened adapter.
#pragma once

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/configuration.hpp>
#include <middlemark/placement.hpp>
#include <middlemark/roles/drain.hpp>
#include <middlemark/roles/role.hpp>
#include <middlemark/roles/topics.hpp>

namespace middlemark {

/// The outcome of a role. `failure` is empty if the role did its work.
struct Concluded {
  AnyRoleResult result;
  std::optional<ErrorEvent> failure;
};

/// The operations of the control thread on a worker's roles. Only that thread calls them.
class Session {
 public:
  explicit Session(const Configuration& configuration)
      : configuration_(configuration), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  virtual ~Session() { close(wake_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Returns which roles still wait for which peers; empty if every role has found its peers.
  [[nodiscard]] std::string waiting_for();
  /// Publishes the history of each transient-local topic. Throws AdapterError.
  void publish_histories();
  /// Opens the subscribers that join late and starts their roles, after all histories are published. Throws AdapterError.
  void join_late();
  /// Returns true while history messages are missing and still arrive. Call repeatedly after all roles have found their
  /// peers.
  [[nodiscard]] bool history_incomplete();
  /// Starts the roles that run before the start, and returns whether there are any.
  bool run_early();
  void start();
  /// Begins a phase of a crowd.
  void enter(const CrowdCommand& command) noexcept;
  /// The peers of each participant of a crowd, as `storm` or `leave` reports them.
  [[nodiscard]] std::vector<Peers> peers() const;
  /// Stops the senders at once. Receivers are stopped when the last sender of this process has ended. If this process
  /// has no sender, they end when they have received `expected` distinct messages (0: at once), or when no more arrive.
  void request_stop(std::uint64_t expected = nothing_expected) noexcept;
  /// Stops only these subscribers, as described above.
  void request_stop(const std::vector<unsigned>& subscribers, std::uint64_t expected) noexcept;
  /// Returns an event for each role that has ended since the last call; empty if the launcher did not request these
  /// events.
  [[nodiscard]] std::vector<EndedEvent> new_ends();
  /// Returns whether every role has ended or was asked to stop. Always true if the launcher does not stop roles
  /// separately.
  [[nodiscard]] bool all_stopping() const noexcept;
  /// A descriptor that becomes readable when a role begins to measure or all roles have ended.
  [[nodiscard]] int wake_descriptor() const noexcept { return wake_; }
  void drain_wake() const noexcept;
  [[nodiscard]] bool measures() const noexcept;
  [[nodiscard]] bool ended() const noexcept { return running_.load() == 0; }
  /// Returns whether a stopped role waits for a number of messages before it ends, which may take longer than other
  /// stops. Still returns true after the messages have arrived.
  [[nodiscard]] bool drains() const noexcept;
  /// Returns each role's result, senders first, after writing the samples. Call after the end. Throws std::system_error
  /// with the path, or the exception that ended a role.
  [[nodiscard]] std::vector<Concluded> conclude();
  /// Returns whether the launcher asked for the latencies of the roles in every report.
  [[nodiscard]] bool reports_latencies() const noexcept { return configuration_.latencies; }
  /// Returns the role whose counts the tick events show: the first sender, or the first role if none sends.
  [[nodiscard]] const Role& leading() const noexcept;
  [[nodiscard]] const std::vector<std::unique_ptr<Role>>& roles() const noexcept { return roles_; }
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
  /// The shared-memory segment through which this process sends; 0 bytes: unknown, or no limit.
  [[nodiscard]] virtual SharedSegment shared_segment() const = 0;
  /// The settings in the middleware's own form; nullopt if the adapter does not report them.
  [[nodiscard]] virtual std::optional<OwnSettings> own_settings() const = 0;
  /// The middleware's messages about rejected peers or other faults; empty if there are none.
  [[nodiscard]] virtual std::string refusals() const = 0;
  /// The security algorithms in force; empty without security. Throws AdapterError if the adapter reports none.
  [[nodiscard]] std::string protected_by() const;

 protected:
  [[nodiscard]] virtual std::string protection() const = 0;
  /// Stops and destroys the roles. The destructor of a derived class calls this before it destroys the adapter.
  void finish() noexcept {
    request_stop();
    for (const auto& role : roles_) role->progress.stop.request();
    join();
    roles_.clear();
  }
  std::vector<std::unique_ptr<Role>> roles_;

 private:
  void launch(Role& role);
  void count_roles() noexcept { running_.store(static_cast<int>(roles_.size())); }
  void run(Role& role) noexcept;
  void stop_receivers() noexcept;
  void join() noexcept;

  const Configuration configuration_;
  int wake_;
  std::atomic<int> running_{-1};  // -1: not started
  std::atomic<int> sending_{0};
  std::atomic<bool> dismissed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;
  Drain histories_{Drain::quiet_history_ns};
  std::set<const Role*> reported_;  // the roles that new_ends() has returned
};

template <Adapter A>
class AdapterSession final : public Session {
 public:
  AdapterSession(const Configuration& configuration, const Clock& clock)
      : Session(configuration), adapter_(configuration.settings) {
    roles_ = make_roles(adapter_, services_, configuration, clock);
  }
  ~AdapterSession() override { finish(); }

  std::vector<std::string> notes() const override {
    if constexpr (HasNotes<A>) return adapter_.notes();
    return {};
  }
  SharedSegment shared_segment() const override {
    if constexpr (HasSharedSegment<A>) return adapter_.shared_segment();
    return {};
  }
  std::optional<OwnSettings> own_settings() const override {
    if constexpr (ReportsSettings<A>) {
      if (OwnSettings settings = adapter_.own_settings(); !settings.text.empty()) return settings;
    }
    return std::nullopt;
  }
  std::string refusals() const override {
    if constexpr (ReportsRefusals<A>) return adapter_.refusals();
    return {};
  }

 protected:
  std::string protection() const override {
    if constexpr (ReportsProtection<A>) return adapter_.protected_by();
    return {};
  }

 private:
  A adapter_;
  Services<A> services_;
};

}  // namespace middlemark
