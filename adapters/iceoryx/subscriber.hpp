// iceoryx's untyped subscriber behind the contract's Subscriber.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <iceoryx_posh/popo/untyped_subscriber.hpp>

#include <middlemark/adapter.hpp>

#include "incoming.hpp"

namespace middlemark::iceoryx {

class Subscriber {
 public:
  Subscriber(const iox::capro::ServiceDescription& service, const iox::popo::SubscriberOptions& options,
             Reception reception)
      : end_(service, options), incoming_(end_, reception) {}

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return incoming_.take(visitor);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return incoming_.wait(timeout); }
  void listen(Listener listener) { incoming_.listen(listener); }
  void silence() { incoming_.silence(); }
  [[nodiscard]] std::string last_error() const { return incoming_.last_error(); }

 private:
  struct Source {
    using End = iox::popo::UntypedSubscriber;
    static constexpr auto has_message = iox::popo::SubscriberState::HAS_DATA;
    static constexpr auto message_received = iox::popo::SubscriberEvent::DATA_RECEIVED;
    static constexpr auto nothing = iox::popo::ChunkReceiveResult::NO_CHUNK_AVAILABLE;
    static void release(End& end, const void* message) noexcept { end.release(message); }
  };

  Source::End end_;
  Incoming<Source> incoming_;
};

}  // namespace middlemark::iceoryx
