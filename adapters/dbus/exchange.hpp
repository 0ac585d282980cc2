// Request and reply: method calls and method returns.
#pragma once

#include <string>

#include "ends.hpp"

namespace middlemark::dbus {

[[nodiscard]] inline std::string bus_name_of(const Topic& service) { return "middlemark." + service.name; }
[[nodiscard]] inline std::string server_note(const Topic& service) { return service.name + ".server"; }

class Client : public Sender, public Receiver {
 public:
  Client(const Trial& trial, const Topic& service, unsigned index)
      : Sender(trial, service),
        Receiver(trial, 1),
        path_(path_of(service)),
        bus_name_(bus_name_of(service)),
        server_(server_note(service)) {
    if (trial.peer) return;
    join_bus();
    trial.notes.leave(kit::publisher_note(service.name, index));
  }

  [[nodiscard]] Published publish() noexcept {
    const kit::Deadline deadline(write_timeout_);
    Connection& connection = connections_.front();
    if (!connection.written(deadline)) return late(connection);
    const Message request(dbus_message_new_method_call(trial_.peer ? nullptr : bus_name_.c_str(), path_.c_str(),
                                                       interface_name, member_name));
    if (!fill(request.get()) || !connection.send(request.get(), &request_serial_)) return no_memory();
    return connection.written(deadline) ? Published::ok : late(connection);
  }

  /// Visits the reply to the last request. Drops late replies to earlier requests.
  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return take_with([this, &visitor](Connection&, DBusMessage* message) noexcept {
      if (dbus_message_get_reply_serial(message) != request_serial_) return false;
      if (dbus_message_get_type(message) != DBUS_MESSAGE_TYPE_METHOD_RETURN) {
        note("the server answered the call with an error");
        return false;
      }
      visitor(payload_of(message));
      return true;
    });
  }

  [[nodiscard]] std::size_t matched() {
    if (!trial_.peer) return trial_.notes.find(server_) ? 1 : 0;
    if (connections_.empty() && !meet(server_)) return 0;
    return established();
  }

 private:
  const std::string path_;
  const std::string bus_name_;
  const std::string server_;
  dbus_uint32_t request_serial_ = 0;  ///< serial number of the last request
};

class Server : public Sender, public Receiver {
 public:
  Server(const Trial& trial, const Topic& service)
      : Sender(trial, service), Receiver(trial, service.publishers), name_(service.name), clients_(service.publishers) {
    serve(server_note(service));
    if (trial.peer) return;
    const std::string name = bus_name_of(service);
    Error error;
    if (dbus_bus_request_name(connections_.front().get(), name.c_str(), DBUS_NAME_FLAG_DO_NOT_QUEUE, error.get()) !=
        DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER) {
      error.fail("dbus_bus_request_name() of " + name);
    }
    trial.notes.leave(server_note(service));
  }

  [[nodiscard]] Published publish() noexcept {
    const kit::Deadline deadline(write_timeout_);
    if (!from_->written(deadline)) return late(*from_);
    const Message reply(dbus_message_new_method_return(request_));
    if (!fill(reply.get()) || !from_->send(reply.get())) return no_memory();
    return from_->written(deadline) ? Published::ok : late(*from_);
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return take_with([this, &visitor](Connection& from, DBusMessage* message) noexcept {
      if (dbus_message_is_method_call(message, interface_name, member_name) == 0) return false;
      from_ = &from;
      request_ = message;
      visitor(payload_of(message));
      return true;
    });
  }

  [[nodiscard]] std::size_t matched() {
    if (trial_.peer) return established();
    while (found_ < clients_ && trial_.notes.find(kit::publisher_note(name_, found_))) ++found_;
    return found_;
  }

 private:
  const std::string name_;
  const unsigned clients_;
  unsigned found_ = 0;
  Connection* from_ = nullptr;  ///< connection of the request that is being visited
  DBusMessage* request_ = nullptr;
};

}  // namespace middlemark::dbus
