// Publishes on the calling thread: libmosquitto writes to the socket itself, and acknowledgements are read here too.
#pragma once

#include <mosquitto.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <sockets/rendezvous.hpp>

#include "connection.hpp"

namespace middlemark::mqtt {

class Publisher {
 public:
  Publisher(const BrokerAddress& broker, const Options& options, const Settings& settings, const Topic& topic,
            unsigned index)
      : settings_(settings),
        topic_(topic),
        qos_(options.qos),
        window_(options.max_inflight),
        message_(topic.message_bytes),
        connection_(topic.name + ".p" + std::to_string(index), broker, options, this) {
    mosquitto_connect_callback_set(connection_.get(), [](mosquitto*, void* self, int refused) {
      static_cast<Publisher*>(self)->connected_ = refused == 0;
    });
    mosquitto_publish_callback_set(connection_.get(),
                                   [](mosquitto*, void* self, int) { --static_cast<Publisher*>(self)->in_flight_; });
    connection_.until([this] { return connected_; }, "accept the connection");
  }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  [[nodiscard]] std::span<std::byte> loan(std::size_t /*bytes*/) noexcept { return message_; }

  /// libmosquitto would queue without a bound what the socket does not take and what is over its window: here the
  /// publisher waits.
  [[nodiscard]] Published publish() noexcept {
    if (qos_ > 0 && in_flight_ > 0) connection_.read();  // what has been acknowledged since the last one
    if (obstructed() && !wait_until_clear()) return Published::timed_out;
    ++in_flight_;
    const int code = mosquitto_publish(connection_.get(), nullptr, topic_.name.c_str(),
                                       static_cast<int>(message_.size()), message_.data(), qos_, false);
    if (code != MOSQ_ERR_SUCCESS) [[unlikely]] {
      --in_flight_;
      connection_.note(code, "mosquitto_publish");
      return Published::failed;
    }
    // A part of it may be on its way and cannot be taken back: then it is reported late and arrives whole.
    if (unfinished() && !wait_until_finished()) return Published::timed_out;
    return Published::ok;
  }

  /// MQTT does not tell a publisher who subscribes: each subscriber leaves a file when the broker has confirmed it.
  [[nodiscard]] std::size_t matched() {
    while (found_ < topic_.subscribers && sockets::find_announcement(sockets::announcement_path(
                                              settings_, topic_.name, sockets::Endpoint::subscriber, found_))) {
      ++found_;
    }
    return found_;
  }

  [[nodiscard]] std::string last_error() const { return connection_.last_error(); }

 private:
  [[nodiscard]] bool obstructed() const noexcept {
    return in_flight_ >= window_ || mosquitto_want_write(connection_.get());
  }
  bool wait_until_clear() noexcept {
    const auto deadline = std::chrono::steady_clock::now() + settings_.write_timeout;
    while (obstructed()) {
      if (!connection_.progress(deadline)) return false;
    }
    return true;
  }
  /// Of QoS 2 the broker gives a message out only when the publisher has answered its receipt, which nobody but this
  /// thread would.
  [[nodiscard]] bool unfinished() const noexcept {
    return mosquitto_want_write(connection_.get()) || (qos_ == 2 && in_flight_ > 0);
  }
  bool wait_until_finished() noexcept {
    const auto deadline = std::chrono::steady_clock::now() + settings_.write_timeout;
    while (unfinished()) {
      if (!connection_.progress(deadline)) return false;
    }
    return true;
  }

  const Settings settings_;
  const Topic topic_;
  const int qos_;
  const int window_;
  std::vector<std::byte> message_;
  int in_flight_ = 0;
  bool connected_ = false;
  unsigned found_ = 0;
  Connection connection_;
};

}  // namespace middlemark::mqtt
