// Owners of libdbus's handles.
#pragma once

#include <dbus/dbus.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::dbus {

/// An error that libdbus fills in.
class Error : kit::Pinned {
 public:
  Error() noexcept { dbus_error_init(&error_); }
  ~Error() { dbus_error_free(&error_); }
  [[nodiscard]] DBusError* get() noexcept { return &error_; }
  [[nodiscard]] bool happened() const noexcept { return dbus_error_is_set(&error_) != 0; }
  [[noreturn]] void fail(const std::string& what) const {
    throw AdapterError("dbus: " + what + ": " + (error_.message != nullptr ? error_.message : "no reason given"));
  }

 private:
  DBusError error_;
};

/// Converts a timeout for libdbus to whole milliseconds, rounded up.
[[nodiscard]] inline int as_ms(std::chrono::nanoseconds span) noexcept {
  constexpr std::chrono::milliseconds longest(1'000'000'000);
  return static_cast<int>(std::min(std::chrono::ceil<std::chrono::milliseconds>(span), longest).count());
}

struct FreeMessage {
  void operator()(DBusMessage* message) const noexcept { dbus_message_unref(message); }
};
using Message = std::unique_ptr<DBusMessage, FreeMessage>;

/// Returns the bytes of a message that consists of one array of bytes; empty for any other message. The message owns
/// the bytes.
[[nodiscard]] inline std::span<const std::byte> payload_of(DBusMessage* message) noexcept {
  DBusMessageIter arguments;
  if (dbus_message_iter_init(message, &arguments) == 0 ||
      dbus_message_iter_get_arg_type(&arguments) != DBUS_TYPE_ARRAY ||
      dbus_message_iter_get_element_type(&arguments) != DBUS_TYPE_BYTE) {
    return {};
  }
  DBusMessageIter array;
  dbus_message_iter_recurse(&arguments, &array);
  const std::byte* bytes = nullptr;
  int count = 0;
  dbus_message_iter_get_fixed_array(&array, static_cast<void*>(&bytes), &count);
  return {bytes, static_cast<std::size_t>(count)};
}

/// Appends `payload` to `message` as one array of bytes. Returns false if libdbus has no memory.
[[nodiscard]] inline bool append(DBusMessage* message, std::span<const std::byte> payload) noexcept {
  const std::byte* const bytes = payload.data();
  DBusMessageIter arguments;
  DBusMessageIter array;
  dbus_message_iter_init_append(message, &arguments);
  return dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE_AS_STRING, &array) != 0 &&
         dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, static_cast<const void*>(&bytes),
                                              static_cast<int>(payload.size())) != 0 &&
         dbus_message_iter_close_container(&arguments, &array) != 0;
}

/// One private connection, used by one thread at a time.
class Connection : kit::Pinned {
 public:
  explicit Connection(const std::string& address) {
    Error error;
    connection_ = dbus_connection_open_private(address.c_str(), error.get());
    if (connection_ == nullptr) error.fail("dbus_connection_open_private() to " + address);
    dbus_connection_set_exit_on_disconnect(connection_, 0);
  }
  /// Shares a connection that a server has accepted.
  explicit Connection(DBusConnection* accepted) noexcept : connection_(dbus_connection_ref(accepted)) {}
  ~Connection() {
    dbus_connection_close(connection_);
    dbus_connection_unref(connection_);
  }

  [[nodiscard]] DBusConnection* get() const noexcept { return connection_; }
  [[nodiscard]] int descriptor() const noexcept {
    int fd = -1;
    dbus_connection_get_unix_fd(connection_, &fd);
    return fd;
  }

  /// Reads and writes as much as possible, for `timeout` at the longest. Returns false if the connection is closed.
  bool advance(std::chrono::nanoseconds timeout) noexcept {
    return dbus_connection_read_write(connection_, as_ms(timeout)) != 0;
  }
  [[nodiscard]] bool authenticated() noexcept {
    advance(std::chrono::nanoseconds(0));
    return dbus_connection_get_is_authenticated(connection_) != 0;
  }
  [[nodiscard]] bool holds_message() const noexcept {
    return dbus_connection_get_dispatch_status(connection_) == DBUS_DISPATCH_DATA_REMAINS;
  }
  [[nodiscard]] Message pop() noexcept { return Message(dbus_connection_pop_message(connection_)); }

  /// Queues the message and writes as much as the socket takes. Returns false if libdbus has no memory.
  [[nodiscard]] bool send(DBusMessage* message, dbus_uint32_t* serial = nullptr) noexcept {
    return dbus_connection_send(connection_, message, serial) != 0;
  }
  /// Writes queued messages until the deadline, because libdbus has no thread that writes them. Returns false if
  /// messages are still queued.
  [[nodiscard]] bool written(const kit::Deadline& deadline) noexcept {
    while (dbus_connection_has_messages_to_send(connection_) != 0) {
      const auto left = deadline.left();
      if (!advance(left) || left.count() == 0) return dbus_connection_has_messages_to_send(connection_) == 0;
    }
    return true;
  }
  [[nodiscard]] bool connected() const noexcept { return dbus_connection_get_is_connected(connection_) != 0; }

 private:
  DBusConnection* connection_ = nullptr;
};

using Connections = std::deque<Connection>;

/// Listens for connections of peers, without a daemon. accept() adds new connections to `connections`.
class PeerServer : kit::Pinned {
 public:
  PeerServer(const std::string& address, Connections& connections) {
    Error error;
    server_ = dbus_server_listen(address.c_str(), error.get());
    if (server_ == nullptr) error.fail("dbus_server_listen() on " + address);
    const auto accepted = [](DBusServer*, DBusConnection* connection, void* all) {
      static_cast<Connections*>(all)->emplace_back(connection);
    };
    const auto add = [](DBusWatch* watch, void* all) -> dbus_bool_t {
      static_cast<std::vector<DBusWatch*>*>(all)->push_back(watch);
      return 1;
    };
    const auto remove = [](DBusWatch* watch, void* all) {
      std::erase(*static_cast<std::vector<DBusWatch*>*>(all), watch);
    };
    dbus_server_set_new_connection_function(server_, accepted, &connections, nullptr);
    if (dbus_server_set_watch_functions(server_, add, remove, nullptr, &watches_, nullptr) == 0) {
      throw AdapterError("dbus: dbus_server_set_watch_functions(): no memory");
    }
  }
  ~PeerServer() {
    dbus_server_disconnect(server_);
    dbus_server_unref(server_);
  }

  void accept() {
    for (DBusWatch* const watch : watches_) {
      for (pollfd waiting{dbus_watch_get_unix_fd(watch), POLLIN, 0}; poll(&waiting, 1, 0) > 0;) {
        dbus_watch_handle(watch, DBUS_WATCH_READABLE);
      }
    }
  }

 private:
  DBusServer* server_ = nullptr;
  std::vector<DBusWatch*> watches_;
};

}  // namespace middlemark::dbus
