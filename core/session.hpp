// One worker's roles over one opened adapter.
#pragma once

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
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

/// What a role says at its end; nothing failed where it did its work.
struct Concluded {
  AnyRoleResult result;
  std::optional<ErrorEvent> failure;
};

/// What the control thread does with a worker's roles. One thread calls everything here.
class Session {
 public:
  explicit Session(const Configuration& configuration)
      : configuration_(configuration), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  virtual ~Session() { close(wake_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Empty when every role has found its peers, else who still waits for whom.
  [[nodiscard]] std::string waiting_for();
  /// Of its transient-local topics. Throws AdapterError.
  void publish_histories();
  /// Once all are published: who joins late opens its end and receives from then on. Throws AdapterError.
  void join_late();
  /// Something of the histories is missing, and something came within the last second. To be asked again and again once all are
  /// matched.
  [[nodiscard]] bool awaits_histories();
  void start();
  /// The senders end where they are; receivers are told when the last of this process has ended. Without senders here they end
  /// when they have received `expected` different messages (0: at once), or when nothing comes any more.
  void request_stop(std::uint64_t expected = nothing_expected) noexcept;
  /// Only these subscribers end.
  void request_stop(const std::vector<unsigned>& subscribers, std::uint64_t expected) noexcept;
  /// The roles that have ended since this was last asked, where each end is to be told.
  [[nodiscard]] std::vector<EndedEvent> ends_to_tell();
  /// Every role has ended or was told to, where each is told by itself.
  [[nodiscard]] bool all_told() const noexcept;
  /// Readable when something has happened: a role began to measure, or all have ended.
  [[nodiscard]] int wake_descriptor() const noexcept { return wake_; }
  void drain_wake() const noexcept;
  [[nodiscard]] bool measures() const noexcept;
  [[nodiscard]] bool ended() const noexcept { return running_.load() == 0; }
  /// Somebody has been told how many messages it can expect. It stays true when they have come: a role that has ended a moment
  /// ago must not be measured by the shorter patience.
  [[nodiscard]] bool told_to_drain() const noexcept;
  /// After the end: each role's result, the senders' first; the samples have been written. Throws std::system_error with the
  /// path, or what kept a role from running.
  [[nodiscard]] std::vector<Concluded> conclude();
  /// The role that leads: the first that sends, otherwise the first.
  [[nodiscard]] const Role& leading() const noexcept;
  [[nodiscard]] const std::vector<std::unique_ptr<Role>>& roles() const noexcept { return roles_; }
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
  /// What the middleware says of peers that were not found; empty: nothing.
  [[nodiscard]] virtual std::string refusals() const = 0;
  /// The algorithms in force; empty where nothing protects. Throws AdapterError where the trial has security and none is told.
  [[nodiscard]] std::string protected_by() const;

 protected:
  [[nodiscard]] virtual std::string protection() const = 0;
  /// Before the roles, and what they hold of the adapter, go.
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
  Drain histories_{Reliability::reliable};
  std::set<const Role*> told_;  // those whose end has been told
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
  std::string refusals() const override {
    if constexpr (TellsRefusals<A>) return adapter_.refusals();
    return {};
  }

 protected:
  std::string protection() const override {
    if constexpr (TellsProtection<A>) return adapter_.protected_by();
    return {};
  }

 private:
  A adapter_;
  Services<A> services_;
};

}  // namespace middlemark
