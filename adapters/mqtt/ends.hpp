// Publishers and subscribers. Each is a client of the broker with its own connection, and the role's thread reads and
// writes the socket. Only under listen() a thread of libmosquitto does this.
#pragma once

#include <mosquitto.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/memory.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/rendezvous.hpp>

#include "broker.hpp"
#include "options.hpp"
#include "tls.hpp"

namespace middlemark::mqtt {

/// Returns the text of a code of libmosquitto, or of a negated errno (see with_errno()).
[[nodiscard]] inline const char* words_of(int code) noexcept {
  return code < 0 ? std::strerror(-code) : mosquitto_strerror(code);
}
/// Replaces MOSQ_ERR_ERRNO by the negated errno, which the next call may overwrite.
[[nodiscard]] inline int with_errno(int code) noexcept { return code == MOSQ_ERR_ERRNO ? -errno : code; }

class Connection : kit::Pinned {
 public:
  Connection(const std::string& name, Trial& trial) : name_(name), client_(mosquitto_new(name.c_str(), true, this)) {
    const BrokerAddress& broker = trial.broker;
    const Options& options = trial.options;
    if (client_ == nullptr) throw AdapterError("mqtt: mosquitto_new() for " + name + ": " + std::strerror(errno));
    mosquitto_connect_callback_set(client_, [](mosquitto*, void* self, int refused) {
      static_cast<Connection*>(self)->connected_ = refused == 0;
    });
    try {
      kit::CodeBlock& applied = trial.applied.begin("client");
      const auto set = [&](mosq_opt_t option, int value, const char* option_name) {
        check(mosquitto_int_option(client_, option, value), option_name);
        applied.call("mosquitto_int_option", "client", option_name, value);
      };
      set(MOSQ_OPT_TCP_NODELAY, options.nodelay ? 1 : 0, "MOSQ_OPT_TCP_NODELAY");
      set(MOSQ_OPT_SEND_MAXIMUM, options.max_inflight, "MOSQ_OPT_SEND_MAXIMUM");
      const bool is_protected = trial.settings.security != Security::none;
      if (is_protected) show_certificate(trial.settings);
      // 10 hours, so that a client that sends nothing for a while stays connected. The launcher notices if the broker
      // ends. With the maximum, 65,535 s, mosquitto 2.0.21 disconnects clients at once.
      constexpr int keepalive_s = 36'000;
      check(mosquitto_connect(client_, broker.host.c_str(), broker.port, keepalive_s),
            "mosquitto_connect() to the broker at " + broker.text());
      await([this] { return connected_; }, "accept the connection");
      if (is_protected) {
        trial.protected_by = algorithms_of(client_);
        greet();
      }
    } catch (...) {
      mosquitto_destroy(client_);
      throw;
    }
  }
  ~Connection() {
    mosquitto_disconnect(client_);
    mosquitto_destroy(client_);
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 protected:
  void check(int code, const std::string& what) const {
    if (code != MOSQ_ERR_SUCCESS)
      throw AdapterError("mqtt: " + name_ + ": " + what + ": " + words_of(with_errno(code)));
  }
  void note(const char* call, int code) noexcept {
    if (code != MOSQ_ERR_SUCCESS) [[unlikely]]
      failure_.note(call, with_errno(code));
  }

  /// Waits until there is something to read, or room for unwritten data. Returns false after `timeout`.
  [[nodiscard]] bool ready(std::chrono::nanoseconds timeout) noexcept {
    const auto events = static_cast<short>(POLLIN | (mosquitto_want_write(client_) ? POLLOUT : 0));
    pollfd waited{mosquitto_socket(client_), events, 0};  // -1 for a closed socket: ppoll() then waits for `timeout`
    const timespec limit = kit::as_timespec(timeout);
    return ppoll(&waited, 1, &limit, nullptr) > 0;
  }
  /// Reads packets without blocking: one, or as many as there are unacknowledged messages. Callbacks run during the
  /// call.
  void read() noexcept {
    if (mosquitto_socket(client_) >= 0) note("mosquitto_loop_read", mosquitto_loop_read(client_, 1));
  }
  void write() noexcept {
    if (mosquitto_want_write(client_)) note("mosquitto_loop_write", mosquitto_loop_write(client_, 1));
  }

  /// Reads and writes until done() is true. Returns false if `timeout` passed first or the connection was closed.
  template <class Done>
  [[nodiscard]] bool drive(Done&& done, std::chrono::nanoseconds timeout) noexcept {
    for (const kit::Deadline deadline(timeout); !done();) {
      const auto left = deadline.left();
      if (left.count() == 0 || !ready(left)) return false;
      write();
      read();
      if (mosquitto_socket(client_) < 0) return false;
    }
    return true;
  }
  template <class Done>
  void await(Done&& done, const std::string& what, std::chrono::seconds patience = std::chrono::seconds(5)) {
    if (drive(done, patience)) return;
    throw AdapterError("mqtt: " + name_ + ": the broker did not " + what + " within " +
                       std::to_string(patience.count()) + " s " + last_error());
  }

  const std::string name_;
  mosquitto* const client_;

 private:
  void show_certificate(const Settings& settings) {
    const kit::Credentials mine(settings);
    check(mosquitto_tls_set(client_, mine.authority().c_str(), nullptr, mine.certificate().c_str(), mine.key().c_str(),
                            nullptr),
          "mosquitto_tls_set()");
    constexpr int verify = 1;
    check(mosquitto_tls_opts_set(client_, verify, "tlsv1.3", nullptr), "mosquitto_tls_opts_set()");
  }

  /// Checks that this client may publish and subscribe, by sending a message to itself. An acknowledgement does not
  /// show that the client has permission, because the broker acknowledges subscriptions and messages of every client.
  void greet() {
    const std::string topic = name_ + "/greeting";
    mosquitto_message_callback_set(client_, [](mosquitto*, void* self, const mosquitto_message*) {
      static_cast<Connection*>(self)->greeted_ = true;
    });
    // Wait for the acknowledgement as well. If it arrived later, it would count as the acknowledgement of a message of
    // the trial.
    mosquitto_publish_callback_set(
        client_, [](mosquitto*, void* self, int) { static_cast<Connection*>(self)->confirmed_ = true; });
    check(mosquitto_subscribe(client_, nullptr, topic.c_str(), 1), "mosquitto_subscribe()");
    check(mosquitto_publish(client_, nullptr, topic.c_str(), 1, "k", 1, false), "mosquitto_publish()");
    await([this] { return greeted_ && confirmed_; },
          "forward the message that the client sent to itself, so the client may neither publish nor subscribe,",
          std::chrono::seconds(2));
    check(mosquitto_unsubscribe(client_, nullptr, topic.c_str()), "mosquitto_unsubscribe()");
    mosquitto_message_callback_set(client_, nullptr);
    mosquitto_publish_callback_set(client_, nullptr);
  }

  bool connected_ = false;
  bool greeted_ = false;
  bool confirmed_ = false;
  kit::LastFailure<&words_of> failure_;
};

class Publisher : public kit::OwnBuffer, public Connection {
 public:
  Publisher(Trial& trial, const Topic& topic, unsigned index)
      : OwnBuffer(topic.message_bytes),
        Connection(topic.name + ".p" + std::to_string(index), trial),
        topic_(topic.name),
        qos_(trial.options.quality(topic)),
        retains_(topic.history > 0),
        window_(trial.options.max_inflight),
        write_timeout_(trial.settings.write_timeout),
        attendance_(trial.settings, topic) {
    trial.applied.begin("publisher")
        .call("mosquitto_publish", "client", "NULL", "topic", "bytes", "message", qos_, retains_);
    mosquitto_publish_callback_set(client_, [](mosquitto*, void* self, int) {
      --static_cast<Publisher*>(static_cast<Connection*>(self))->in_flight_;
    });
  }

  /// Waits while the socket is full or the window is used up, because libmosquitto would queue without a limit.
  [[nodiscard]] Published publish() noexcept {
    if (qos_ > 0 && in_flight_ > 0) read();  // acknowledgements that have arrived since the last message
    const auto clear = [this]() noexcept { return in_flight_ < window_ && !mosquitto_want_write(client_); };
    if (!clear() && !drive(clear, write_timeout_)) return Published::timed_out;
    ++in_flight_;
    const int code = mosquitto_publish(client_, nullptr, topic_.c_str(), static_cast<int>(message_.size()),
                                       message_.data(), qos_, retains_);
    if (code != MOSQ_ERR_SUCCESS) [[unlikely]] {
      --in_flight_;
      note("mosquitto_publish", code);
      return Published::failed;
    }
    // A message that was sent in part cannot be cancelled: after the timeout publish() reports timed_out, but the
    // message still arrives whole. With QoS 2, publish() also waits for the broker's receipt: the broker forwards a
    // message only after the publisher has answered the receipt, and no other thread would read it.
    const auto finished = [this]() noexcept { return !mosquitto_want_write(client_) && (qos_ < 2 || in_flight_ == 0); };
    return finished() || drive(finished, write_timeout_) ? Published::ok : Published::timed_out;
  }

  [[nodiscard]] std::size_t matched() { return attendance_.count(); }

 private:
  const std::string topic_;
  const int qos_;
  const bool retains_;  ///< the broker keeps the last message for later subscribers
  const int window_;
  const std::chrono::nanoseconds write_timeout_;
  int in_flight_ = 0;
  kit::Attendance attendance_;
};

class Subscriber : public Connection {
 public:
  static constexpr std::size_t most_per_take = 256;

  Subscriber(Trial& trial, const Topic& topic, unsigned index)
      : Connection(topic.name + ".s" + std::to_string(index), trial), keeps_(topic.history > 0) {
    mosquitto_subscribe_callback_set(client_, [](mosquitto*, void* self, int, int count, const int* granted) {
      if (count == 1) static_cast<Subscriber*>(static_cast<Connection*>(self))->granted_ = *granted;
    });
    mosquitto_message_callback_set(client_, [](mosquitto*, void* self, const mosquitto_message* message) {
      static_cast<Subscriber*>(static_cast<Connection*>(self))->deliver(*message);
    });
    const int quality = trial.options.quality(topic);
    check(mosquitto_subscribe(client_, nullptr, topic.name.c_str(), quality), "mosquitto_subscribe()");
    trial.applied.begin("subscriber").call("mosquitto_subscribe", "client", "NULL", "topic", quality);
    await([this] { return granted_.has_value(); }, "confirm the subscription");
    if (*granted_ != quality) {
      throw AdapterError("mqtt: " + topic.name + ": the broker granted QoS " + std::to_string(*granted_) +
                         " where QoS " + std::to_string(quality) + " was asked for");
    }
    kit::Attendance(trial.settings, topic).attend(index);
  }
  ~Subscriber() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    receiver_ = Listener(visitor);
    visits_ = 0;
    deliver_early();
    write();  // acknowledgements for which the socket had no room
    std::size_t before = 0;
    do {
      before = visits_;
      read();
    } while (visits_ > before && visits_ < most_per_take);
    receiver_ = {};
    return visits_;
  }

  /// Returns true if a message may have arrived. Polling the socket is enough, because libmosquitto's only buffered
  /// message is the one that it is reading.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return !early_.empty() || ready(timeout); }

  void listen(Listener listener) {
    receiver_ = listener;
    deliver_early();
    check(mosquitto_loop_start(client_), "mosquitto_loop_start()");
    listening_ = true;
  }
  /// Disconnects first, which ends libmosquitto's thread. Without that, mosquitto_loop_stop() would have to cancel the
  /// thread, possibly inside a callback.
  void silence() {
    if (!listening_) return;
    mosquitto_disconnect(client_);
    mosquitto_loop_stop(client_, false);
    listening_ = false;
    receiver_ = {};
  }

 private:
  void deliver(const mosquitto_message& message) noexcept {
    const std::span payload(static_cast<const std::byte*>(message.payload),
                            static_cast<std::size_t>(message.payloadlen));
    if (!receiver_) {
      if (keeps_) early_.assign(payload.begin(), payload.end());
      return;
    }
    ++visits_;
    receiver_(payload);
  }

  void deliver_early() noexcept {
    if (early_.empty()) return;
    ++visits_;
    receiver_(early_);
    early_.clear();
  }

  const bool keeps_;
  std::vector<std::byte> early_;  ///< the retained message, if it arrived before take() or listen()
  Listener receiver_;
  std::size_t visits_ = 0;
  bool listening_ = false;
  std::optional<int> granted_;
};

}  // namespace middlemark::mqtt
