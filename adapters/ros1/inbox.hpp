// Where roscpp's callbacks come out: on the role's thread out of a callback queue (poll, block), or on a spinner's (listen).
#pragma once

#include <ros/callback_queue.h>
#include <ros/spinner.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>

#include <boost/chrono/duration.hpp>
#include <boost/thread/lock_types.hpp>

#include <middlemark/adapter.hpp>

namespace middlemark::ros1 {

/// Waits as callAvailable(timeout) does, but leaves the calling to take().
class WaitableQueue : public ros::CallbackQueue {
 public:
  bool wait(std::chrono::nanoseconds timeout) {
    boost::unique_lock<boost::mutex> lock(mutex_);
    if (callbacks_.empty()) condition_.wait_for(lock, boost::chrono::nanoseconds(timeout.count()));
    return !callbacks_.empty();
  }
};

class Inbox {
 public:
  /// A spinner's thread is started here, by the main thread: one that a role started would share its processor and name.
  Inbox(Reception reception, bool spins) : listens_(reception == Reception::listen) {
    if (!listens_ || !spins) return;
    spinner_.emplace(1, &queue_);
    spinner_->start();
  }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox() { close(); }

  [[nodiscard]] WaitableQueue& queue() noexcept { return queue_; }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    visits_ = 0;
    sink_.emplace(visitor);
    try {
      queue_.callAvailable();
    } catch (const std::exception& error) {
      fail(error);
    }
    return visits_;
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    try {
      return queue_.wait(timeout);
    } catch (const std::exception& error) {
      fail(error);
      return true;
    }
  }

  void listen(Listener listener) {
    sink_.emplace(listener);
    set(listening);
  }

  /// A callback under way goes on until its end; later ones do nothing.
  void ignore() noexcept { set(ignoring); }

  /// After the last callback. Nothing is called any more.
  void close() {
    ignore();
    if (spinner_) spinner_->stop();
    spinner_.reset();
  }

  /// One message, in a callback. Those that come before listen() wait for it. False: nobody wants it.
  bool deliver(std::span<const std::byte> message) noexcept {
    if (listens_) {
      state_.wait(early, std::memory_order_acquire);
      if (state_.load(std::memory_order_acquire) != listening) return false;
    } else if (!sink_) {
      return false;
    }
    ++visits_;
    (*sink_)(message);
    return true;
  }

  void fail(const std::exception& error) noexcept {
    try {
      failure_ = error.what();
    } catch (...) {  // no memory for the words
    }
  }
  [[nodiscard]] const std::string& last_error() const noexcept { return failure_; }

 private:
  enum : std::uint32_t { early, listening, ignoring };

  void set(std::uint32_t state) noexcept {
    state_.store(state, std::memory_order_release);
    state_.notify_all();
  }

  const bool listens_;
  std::optional<Listener> sink_;
  std::size_t visits_ = 0;
  std::atomic<std::uint32_t> state_{early};
  std::string failure_;
  WaitableQueue queue_;
  std::optional<ros::AsyncSpinner> spinner_;
};

}  // namespace middlemark::ros1
