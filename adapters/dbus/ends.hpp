// Code that publishers, subscribers, clients and servers share: their connections, sending, and passing messages to a
// visitor. Hot file: once these objects are open, our code here does not allocate, lock, log or throw. libdbus
// allocates each message.
#pragma once

#include <dbus/dbus.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/memory.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/trial.hpp>

#include "bus.hpp"
#include "handles.hpp"
#include "options.hpp"

namespace middlemark::dbus {

struct Trial : kit::Trial<Options> {
  explicit Trial(const Settings& trial_settings) : kit::Trial<Options>(trial_settings) {
    if (dbus_threads_init_default() == 0) throw AdapterError("dbus: dbus_threads_init_default(): no memory");
  }

  const bool peer = settings.transport == "peer";
  const std::string bus = peer ? "" : address_of_the_bus();
};

inline constexpr const char* interface_name = "middlemark.Topic";
inline constexpr const char* member_name = "message";

[[nodiscard]] inline std::string path_of(const Topic& topic) { return '/' + topic.name; }
/// Returns the address of a peer: a name in the abstract namespace. Such a name leaves no file, and its length does not
/// depend on the path of a folder.
[[nodiscard]] inline std::string peer_address(const std::string& name) { return "unix:abstract=" + name + ".dbus"; }

class End : kit::Pinned {
 public:
  [[nodiscard]] std::string last_error() const {
    const char* const failed = failed_.load(std::memory_order_relaxed);
    return failed == nullptr ? "" : failed;
  }

 protected:
  explicit End(const Trial& trial) : trial_(trial) {}
  ~End() = default;

  /// Opens a server to which peers connect under `name`. If the trial has a bus, connects to the bus instead.
  void serve(const std::string& name) {
    if (!trial_.peer) return join_bus();
    server_.emplace(peer_address(name), connections_);
    trial_.notes.leave(name);
  }
  void join_bus() {
    Connection& connection = connections_.emplace_back(trial_.bus);
    Error error;
    if (dbus_bus_register(connection.get(), error.get()) == 0) error.fail("dbus_bus_register() at " + trial_.bus);
  }
  /// Connects to the peer `name`. Returns false if the peer does not listen yet.
  [[nodiscard]] bool meet(const std::string& name) {
    if (!trial_.notes.find(name)) return false;
    connections_.emplace_back(peer_address(name));
    return true;
  }

  /// Returns the number of connections on which both sides have authenticated.
  [[nodiscard]] std::size_t established() {
    if (server_) server_->accept();
    return static_cast<std::size_t>(std::ranges::count_if(connections_, &Connection::authenticated));
  }

  void note(const char* failed) noexcept { failed_.store(failed, std::memory_order_relaxed); }
  [[nodiscard]] Published no_memory() noexcept {
    note("dbus_connection_send: no memory");
    return Published::failed;
  }
  /// Returns the result of a publish() that could not write its message in time.
  [[nodiscard]] Published late(const Connection& connection) noexcept {
    if (connection.connected()) return Published::timed_out;
    note("the connection is gone");
    return Published::failed;
  }

  const Trial& trial_;
  Connections connections_;  // declared before server_, which must be destroyed first
  std::optional<PeerServer> server_;

 private:
  std::atomic<const char*> failed_{nullptr};
};

/// Builds messages from the memory of loan(). Each message is written before publish() returns, because libdbus would
/// queue messages without a limit.
class Sender : public kit::OwnBuffer {
 protected:
  Sender(const Trial& trial, const Topic& topic)
      : OwnBuffer(topic.message_bytes), write_timeout_(trial.settings.write_timeout) {}
  ~Sender() = default;

  /// Appends the current message's bytes to `message`. Returns false if libdbus has no memory.
  [[nodiscard]] bool fill(DBusMessage* message) noexcept { return message != nullptr && append(message, message_); }

  const std::chrono::nanoseconds write_timeout_;
};

/// Receives messages on the calling thread, because libdbus has no thread that reads sockets. libdbus reads 2048 bytes
/// at a time.
class Receiver : public End {
 public:
  static constexpr std::size_t most_per_take = 256;  ///< per connection

  /// Waits until a message has arrived completely, or until the timeout has passed.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    for (const kit::Deadline deadline(timeout); !holds_message();) {
      const auto left = deadline.left();
      if (left.count() == 0) return false;
      if (!advance(left)) kit::nap(left);  // all connections are closed
    }
    return true;
  }

 protected:
  /// `peers`: the most connections that this receiver will have.
  Receiver(const Trial& trial, unsigned peers) : End(trial) { waited_.reserve(peers); }
  ~Receiver() = default;

  /// Calls `visit(connection, message)` for each message that has arrived. `visit` returns true if the message was one
  /// for the visitor. Returns the number of such messages.
  template <class Visit>
  std::size_t take_with(const Visit& visit) noexcept {
    std::size_t visits = visit_read(visit);
    if (visits > 0) return visits;
    for (Connection& connection : connections_) connection.advance(std::chrono::nanoseconds(0));
    return visit_read(visit);
  }

 private:
  template <class Visit>
  std::size_t visit_read(const Visit& visit) noexcept {
    std::size_t visits = 0;
    for (Connection& connection : connections_) {
      for (std::size_t messages = 0; messages < most_per_take; ++messages) {
        const Message message = connection.pop();
        if (!message) break;
        visits += visit(connection, message.get()) ? 1 : 0;
      }
    }
    return visits;
  }

  [[nodiscard]] bool holds_message() const noexcept {
    return std::ranges::any_of(connections_, &Connection::holds_message);
  }
  /// Reads from the connections that have data. Returns false if all connections are closed.
  bool advance(std::chrono::nanoseconds timeout) noexcept {
    if (connections_.size() == 1) return connections_.front().advance(timeout);
    waited_.resize(connections_.size());  // does not allocate: the capacity is reserved
    for (std::size_t i = 0; i < waited_.size(); ++i) waited_[i] = {connections_[i].descriptor(), POLLIN, 0};
    const timespec limit = kit::as_timespec(timeout);
    if (ppoll(waited_.data(), waited_.size(), &limit, nullptr) <= 0) return true;
    bool open = false;
    for (std::size_t i = 0; i < waited_.size(); ++i) {
      if (waited_[i].revents == 0 || connections_[i].advance(std::chrono::nanoseconds(0))) open = true;
    }
    return open;
  }

  std::vector<pollfd> waited_;
};

}  // namespace middlemark::dbus
