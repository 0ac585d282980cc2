// One worker's roles over one opened adapter. The virtual interface is for the control thread only: everything on the hot
// path is in the templates behind it.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/configuration.hpp>
#include <middlemark/placement.hpp>
#include <middlemark/roles/ping.hpp>
#include <middlemark/roles/pong.hpp>
#include <middlemark/roles/progress.hpp>

namespace middlemark {

class Session {
 public:
  virtual ~Session() = default;
  /// Empty when every role has found its peers, else who still waits for whom.
  [[nodiscard]] virtual std::string waiting_for() = 0;
  virtual void start() = 0;
  virtual void request_stop() noexcept = 0;
  /// Readable when every role has ended.
  [[nodiscard]] virtual int ended_descriptor() const noexcept = 0;
  [[nodiscard]] virtual bool ended() const noexcept = 0;
  /// After the end: each role's result; the ping's samples have been written. Throws std::system_error with the path, or what
  /// kept a role from running.
  [[nodiscard]] virtual std::vector<RoleResult> conclude() = 0;
  /// The role that leads (the ping where there is one): its name and progress.
  [[nodiscard]] virtual const char* leading_role() const noexcept = 0;
  [[nodiscard]] virtual const Progress& leading_progress() const noexcept = 0;
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};

template <Adapter A>
class AdapterSession final : public Session {
 public:
  AdapterSession(const Configuration& configuration, const Clock& clock)
      : configuration_(configuration),
        ended_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        adapter_(configuration.settings) {
    // A subscriber exists before the publisher that would send to it wherever one process holds both.
    for (const PongRequest& request : configuration.pongs) {
      pong_progress_.push_back(std::make_unique<Progress>());
      pongs_.push_back(std::make_unique<Pong<A>>(adapter_, configuration_.settings, request, *pong_progress_.back()));
    }
    if (configuration.ping) {
      ping_ = std::make_unique<Ping<A>>(adapter_, configuration_.settings, *configuration.ping, clock, ping_progress_);
    }
  }

  ~AdapterSession() override {
    request_stop();
    threads_.clear();  // joins
    close(ended_event_);
  }
  AdapterSession(const AdapterSession&) = delete;
  AdapterSession& operator=(const AdapterSession&) = delete;

  std::string waiting_for() override {
    std::string missing;
    const auto ask = [&missing](const std::string& who, std::size_t found, std::size_t expected) {
      if (found >= expected) return;
      if (!missing.empty()) missing += "; ";
      missing += who + " found " + std::to_string(found) + " of " + std::to_string(expected) + " subscribers";
    };
    if (ping_) ask("ping", ping_->matched(), ping_->expected());
    for (std::size_t i = 0; i < pongs_.size(); ++i) {
      ask("pong " + std::to_string(configuration_.pongs[i].index), pongs_[i]->matched(), pongs_[i]->expected());
    }
    return missing;
  }

  void start() override {
    running_.store(static_cast<int>(pongs_.size() + (ping_ ? 1 : 0)));
    for (std::size_t i = 0; i < pongs_.size(); ++i) {
      launch(*pongs_[i], *pong_progress_[i], configuration_.pongs[i].cpu);
    }
    for (const auto& progress : pong_progress_) {  // the ping must find every pong in its loop
      // Sleeping, not yielding: this thread may be above the role in priority and on its processor.
      while (progress->phase.load(std::memory_order_acquire) == Phase::waiting) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
    if (ping_) launch(*ping_, ping_progress_, configuration_.ping->cpu);
  }

  void request_stop() noexcept override {
    ping_progress_.stop.request();
    for (const auto& progress : pong_progress_) progress->stop.request();
  }

  int ended_descriptor() const noexcept override { return ended_event_; }
  bool ended() const noexcept override { return running_.load() == 0; }

  std::vector<RoleResult> conclude() override {
    threads_.clear();
    if (failure_) std::rethrow_exception(failure_);
    std::vector<RoleResult> results;
    if (ping_) {
      ping_->recorder().write_npy(configuration_.ping->samples_path);
      results.push_back(ping_->result());
    }
    for (const auto& pong : pongs_) results.push_back(pong->result());
    return results;
  }

  const char* leading_role() const noexcept override { return ping_ ? "ping" : "pong"; }
  const Progress& leading_progress() const noexcept override {
    return ping_ ? ping_progress_ : *pong_progress_.front();
  }

  std::vector<std::string> notes() const override {
    if constexpr (HasNotes<A>) return adapter_.notes();
    return {};
  }

 private:
  template <class Role>
  void launch(Role& role, Progress& progress, std::optional<int> cpu) {
    threads_.emplace_back([this, &role, &progress, cpu] {
      // The control thread, this thread's parent, may have gone one step up; the role keeps what was asked for.
      try {
        if (cpu) pin_thread(*cpu);
        raise_priority(configuration_.placement, 0);
        role.run();
      } catch (...) {
        {
          const std::lock_guard lock(failure_mutex_);
          if (!failure_) failure_ = std::current_exception();
        }
        request_stop();  // the others would only find out that nobody answers
      }
      progress.phase.store(Phase::ended, std::memory_order_release);
      if (&progress == &ping_progress_) request_stop();  // in one process the pongs end with the ping
      if (running_.fetch_sub(1) == 1) {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(ended_event_, &one, sizeof one);
      }
    });
  }

  const Configuration configuration_;
  int ended_event_;
  Progress ping_progress_;
  std::vector<std::unique_ptr<Progress>> pong_progress_;
  A adapter_;
  std::vector<std::unique_ptr<Pong<A>>> pongs_;
  std::unique_ptr<Ping<A>> ping_;
  std::atomic<int> running_{-1};  // -1: not started
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;
};

}  // namespace middlemark
