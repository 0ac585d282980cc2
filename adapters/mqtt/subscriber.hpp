// Receives on the role's own thread (block, poll), or on libmosquitto's (listen).
#pragma once

#include <mosquitto.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <middlemark/adapter.hpp>
#include <sockets/rendezvous.hpp>

#include "connection.hpp"

namespace middlemark::mqtt {

class Subscriber {
 public:
  Subscriber(const BrokerAddress& broker, const Options& options, const Settings& settings, const Topic& topic,
             unsigned index)
      : connection_(topic.name + ".s" + std::to_string(index), broker, options, this) {
    mosquitto_connect_callback_set(connection_.get(), [](mosquitto*, void* self, int refused) {
      static_cast<Subscriber*>(self)->connected_ = refused == 0;
    });
    mosquitto_subscribe_callback_set(connection_.get(), [](mosquitto*, void* self, int, int count, const int* granted) {
      if (count == 1) static_cast<Subscriber*>(self)->granted_ = *granted;
    });
    mosquitto_message_callback_set(connection_.get(), [](mosquitto*, void* self, const mosquitto_message* message) {
      static_cast<Subscriber*>(self)->deliver(*message);
    });
    connection_.until([this] { return connected_; }, "accept the connection");
    connection_.check(mosquitto_subscribe(connection_.get(), nullptr, topic.name.c_str(), options.qos),
                      "mosquitto_subscribe()");
    connection_.until([this] { return granted_.has_value(); }, "confirm the subscription");
    if (*granted_ != options.qos) {
      throw AdapterError("mqtt: " + topic.name + ": the broker granted QoS " + std::to_string(*granted_) +
                         " where QoS " + std::to_string(options.qos) + " was asked for");
    }
    sockets::announce(sockets::announcement_path(settings, topic.name, sockets::Endpoint::subscriber, index), {});
  }
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;
  ~Subscriber() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    receiver_.emplace(visitor);
    visits_ = 0;
    connection_.write();  // an acknowledgement that the socket did not take
    std::size_t before = 0;
    do {
      before = visits_;
      connection_.read();
    } while (visits_ > before && visits_ < most_at_once);
    receiver_.reset();
    return visits_;
  }

  /// What has arrived stays in the socket until it is read: libmosquitto keeps nothing but the message it is in the middle
  /// of.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return connection_.ready(timeout); }

  void listen(Listener listener) {
    receiver_.emplace(listener);
    connection_.check(mosquitto_loop_start(connection_.get()), "mosquitto_loop_start()");
    listening_ = true;
  }

  /// Its thread ends when the connection does; the alternative is to cancel it, callback or not.
  void silence() {
    if (!listening_) return;
    mosquitto_disconnect(connection_.get());
    mosquitto_loop_stop(connection_.get(), false);
    listening_ = false;
    receiver_.reset();
  }

  [[nodiscard]] std::string last_error() const { return connection_.last_error(); }

 private:
  /// So many visits end a take(), however fast messages come.
  static constexpr std::size_t most_at_once = 256;

  void deliver(const mosquitto_message& message) noexcept {
    if (!receiver_) return;
    ++visits_;
    (*receiver_)({static_cast<const std::byte*>(message.payload), static_cast<std::size_t>(message.payloadlen)});
  }

  std::optional<Listener> receiver_;
  std::size_t visits_ = 0;
  bool connected_ = false;
  bool listening_ = false;
  std::optional<int> granted_;
  Connection connection_;
};

}  // namespace middlemark::mqtt
