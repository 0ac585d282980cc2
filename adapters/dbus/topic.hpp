// Publisher and subscriber of a topic, with D-Bus signals. Without a bus the publisher sends each signal on every
// subscriber's connection. On a bus each subscriber has a match rule, and the daemon distributes the signals.
#pragma once

#include <string>
#include <vector>

#include "ends.hpp"

namespace middlemark::dbus {

class Publisher : public Sender, public End {
 public:
  Publisher(const Trial& trial, const Topic& topic, unsigned index)
      : Sender(trial, topic),
        End(trial),
        path_(path_of(topic)),
        waits_(topic.reliability == Reliability::reliable),
        attendance_(trial.settings, topic) {
    serve(kit::publisher_note(topic.name, index));
  }

  [[nodiscard]] Published publish() noexcept {
    const kit::Deadline deadline(write_timeout_);
    // If an earlier message missed its deadline, the rest of that message is written first.
    for (Connection& connection : connections_) {
      if (!connection.written(waits_ ? deadline : kit::Deadline({}))) return late_or_dropped(connection);
    }
    const Message message(dbus_message_new_signal(path_.c_str(), interface_name, member_name));
    if (!fill(message.get())) return no_memory();
    for (Connection& connection : connections_) {
      if (!connection.send(message.get())) return no_memory();
    }
    for (Connection& connection : connections_) {
      if (!connection.written(deadline)) return late_or_dropped(connection);
    }
    return Published::ok;
  }

  [[nodiscard]] std::size_t matched() { return trial_.peer ? established() : attendance_.count(); }

 private:
  [[nodiscard]] Published late_or_dropped(const Connection& connection) noexcept {
    const Published result = late(connection);
    return result == Published::timed_out && !waits_ ? Published::ok : result;
  }

  const std::string path_;
  const bool waits_;
  kit::Attendance attendance_;
};

class Subscriber : public Receiver {
 public:
  Subscriber(const Trial& trial, const Topic& topic, unsigned index)
      : Receiver(trial, topic.publishers), publishers_(topic.publishers) {
    if (trial.peer) {
      for (unsigned publisher = 0; publisher < topic.publishers; ++publisher)
        awaited_.push_back(kit::publisher_note(topic.name, publisher));
      return;
    }
    join_bus();
    const std::string rule =
        "type='signal',interface='" + std::string(interface_name) + "',path='" + path_of(topic) + "'";
    Error error;
    dbus_bus_add_match(connections_.front().get(), rule.c_str(), error.get());
    if (error.happened()) error.fail("dbus_bus_add_match() of " + rule);
    kit::Attendance(trial.settings, topic).attend(index);
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return take_with([&visitor](Connection&, DBusMessage* message) noexcept {
      if (dbus_message_is_signal(message, interface_name, member_name) == 0) return false;
      visitor(payload_of(message));
      return true;
    });
  }

  /// On a bus a subscriber cannot see publishers, so all of them count as found: each publisher connects to the bus
  /// before it reports that it is ready.
  [[nodiscard]] std::size_t publishers_found() {
    if (!trial_.peer) return publishers_;
    std::erase_if(awaited_, [this](const std::string& name) { return meet(name); });
    return established();
  }

 private:
  const std::size_t publishers_;
  std::vector<std::string> awaited_;
};

}  // namespace middlemark::dbus
