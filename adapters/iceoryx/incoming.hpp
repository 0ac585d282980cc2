// How messages arrive: the same for subscribers, clients and servers, which iceoryx gives different names for it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <iceoryx_posh/mepoo/chunk_header.hpp>
#include <iceoryx_posh/popo/listener.hpp>
#include <iceoryx_posh/popo/user_trigger.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>

#include <middlemark/adapter.hpp>

#include "runtime.hpp"

namespace middlemark::iceoryx {

/// `Source` names the end's state, event and way to release; the end outlives this.
template <class Source>
class Incoming {
 public:
  using End = typename Source::End;

  Incoming(End& end, Reception reception) : end_(end) {
    if (reception != Reception::block) return;
    waitset_.emplace();
    if (waitset_->attachState(end_, Source::has_message).has_error()) {
      throw AdapterError("iceoryx: the wait set takes no more");
    }
  }
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;
  ~Incoming() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    for (std::size_t visits = 0; visits < most_at_once; ++visits) {
      const auto taken = end_.take();
      if (taken.has_error()) {
        if (taken.get_error() != Source::nothing) failure_.note("take", iox::popo::asStringLiteral(taken.get_error()));
        return visits;
      }
      const void* const message = taken.value();
      const std::size_t bytes = iox::mepoo::ChunkHeader::fromUserPayload(message)->userPayloadSize();
      visitor(std::span(static_cast<const std::byte*>(message), bytes));
      Source::release(end_, message);
    }
    return most_at_once;
  }

  /// The state holds while untaken messages are there. Without a wait set (the trial does not block) every wait is spurious.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    if (!waitset_) return true;
    return !waitset_->timedWait(iox::units::Duration::fromNanoseconds(timeout.count())).empty();
  }

  void listen(middlemark::Listener listener) {
    listener_.emplace(listener);
    listening_.store(true, std::memory_order_relaxed);
    start_thread();
    const auto arrived = iox::popo::createNotificationCallback(on_message, *this);
    const auto began = iox::popo::createNotificationCallback(on_begin, *this);
    if (thread_->attachEvent(end_, Source::message_received, arrived).has_error() ||
        thread_->attachEvent(begin_, began).has_error()) {
      throw AdapterError("iceoryx: the listener takes no more");
    }
    begin_.trigger();  // what came before the listener raises no event any more
  }

  /// iceoryx's listener joins its thread.
  void silence() {
    listening_.store(false, std::memory_order_relaxed);
    thread_.reset();
    listener_.reset();
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  /// So many visits end a take(), however fast messages come: the role looks for its stop between two of them.
  static constexpr std::size_t most_at_once = 1024;

  static void on_message(End* /*end*/, Incoming* self) { self->deliver(); }
  static void on_begin(iox::popo::UserTrigger* /*trigger*/, Incoming* self) { self->deliver(); }

  /// Everything that is there: an event is not raised again for what was left.
  void deliver() noexcept {
    while (listening_.load(std::memory_order_relaxed) && take(*listener_) == most_at_once) {
    }
  }

  /// iceoryx leaves its thread with the name of whoever starts it, and the role's would be the bench's.
  void start_thread() {
    char own[16] = "";
    pthread_getname_np(pthread_self(), own, sizeof own);
    pthread_setname_np(pthread_self(), "iox listener");
    thread_ = std::make_unique<iox::popo::Listener>();
    pthread_setname_np(pthread_self(), own);
  }

  End& end_;
  std::optional<iox::popo::WaitSet<1>> waitset_;
  LastFailure failure_;
  std::optional<middlemark::Listener> listener_;
  std::atomic<bool> listening_{false};
  iox::popo::UserTrigger begin_;
  std::unique_ptr<iox::popo::Listener> thread_;
};

}  // namespace middlemark::iceoryx
