// A publisher is an OutPort, a subscriber is an InPort. Hot file: while the roles run, our code here does not allocate, lock,
// log or throw.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/take.hpp>
#include <middlemark/kit/trial.hpp>

#include "options.hpp"
#include "rtm.hpp"
#include "runtime.hpp"

namespace middlemark::openrtm {

using Message = RTC::TimedOctetSeq;

[[nodiscard]] inline std::span<std::byte> octets_of(Message& message) noexcept {
  return std::as_writable_bytes(std::span(message.data.get_buffer(), message.data.length()));
}

/// A port and the variable from which it writes (OutPort) or into which it reads (InPort).
template <template <class> class Port>
struct Bound : kit::Pinned {
  explicit Bound(const Topic& topic) : port(topic.name.c_str(), message) {
    message.data.length(static_cast<CORBA::ULong>(topic.message_bytes));
    coil::Properties none;
    port.init(none);
  }
  Message message{};
  Port<Message> port;
};
using Output = Bound<RTC::OutPort>;
using Input = Bound<RTC::InPort>;

struct Trial : kit::Trial<Options> {
  using kit::Trial<Options>::Trial;

  std::list<Output> outputs{};
  /// All subscribers' ports. Never destroyed, because other processes may call them until this process ends.
  std::list<Input>& inputs = *new std::list<Input>;
};

[[nodiscard]] inline std::string connected_note(const std::string& subscriber, unsigned publisher) {
  return subscriber + ".hears." + std::to_string(publisher);
}

class Publisher : kit::Pinned {
 public:
  Publisher(Trial& trial, const Topic& topic, unsigned index)
      : trial_(trial),
        topic_(topic),
        index_(index),
        output_(trial.outputs.emplace_back(topic)),
        unwritten_(topic.subscribers) {}

  /// Returns the content of the bound variable. write() copies it.
  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    // Does not allocate: `bytes` is at most the length that Bound() has set.
    output_.message.data.length(static_cast<CORBA::ULong>(bytes));
    return octets_of(output_.message);
  }

  [[nodiscard]] Published publish() noexcept {
    try {
      return output_.port.write() ? Published::ok : write_again();
    } catch (...) {
      failure_.note("OutPort::write() threw", RTC::DataPortStatus::UNKNOWN_ERROR);
      return Published::failed;
    }
  }

  [[nodiscard]] std::size_t matched() {
    while (found_ < topic_.subscribers && connect()) ++found_;
    if (found_ == topic_.subscribers && !trial_.settings.is_default_configuration())
      Runtime::bound_calls(trial_.settings);
    return found_;
  }
  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  /// Called when write() did not reach all subscribers. Writes again to the subscribers whose buffers were full.
  [[nodiscard]] Published write_again() {
    if (output_.port.connectors().size() != unwritten_.size()) return failed(RTC::DataPortStatus::CONNECTION_LOST);
    for (std::size_t i = 0; i < unwritten_.size(); ++i) {
      const RTC::DataPortStatus status = output_.port.getStatus(static_cast<int>(i));
      unwritten_[i] = full(status);
      if (!full(status) && status != RTC::DataPortStatus::PORT_OK) return failed(status);
    }
    if (!Options::reliable(topic_)) return Published::ok;
    RTC::DataPortStatus wrong = RTC::DataPortStatus::PORT_OK;
    const bool done = kit::wait_until([&] { return write_to_the_rest(wrong); }, trial_.settings.write_timeout);
    if (wrong != RTC::DataPortStatus::PORT_OK) return failed(wrong);
    return done ? Published::ok : Published::timed_out;
  }
  /// Writes once to each connector in `unwritten_`. Returns true if all have accepted the message, or if a write
  /// failed; `wrong` is then the error.
  [[nodiscard]] bool write_to_the_rest(RTC::DataPortStatus& wrong) {
    bool all = true;
    for (std::size_t i = 0; i < unwritten_.size(); ++i) {
      if (!unwritten_[i]) continue;
      const RTC::DataPortStatus status = output_.port.connectors()[i]->write(output_.message);
      unwritten_[i] = full(status);
      all = all && !unwritten_[i];
      if (full(status) || status == RTC::DataPortStatus::PORT_OK) continue;
      wrong = status;
      return true;
    }
    return all;
  }
  [[nodiscard]] static bool full(RTC::DataPortStatus status) noexcept {
    // BUFFER_TIMEOUT means that the connector's own buffer is full (only with `new`). OpenRTM does not wait in this
    // case.
    using enum RTC::DataPortStatus;
    return status == SEND_FULL || status == BUFFER_FULL || status == BUFFER_TIMEOUT;
  }
  [[nodiscard]] Published failed(RTC::DataPortStatus status) noexcept {
    failure_.note("OutPort::write()", status);
    return Published::failed;
  }

  /// Connects to the next subscriber. Returns false if that subscriber does not exist yet.
  [[nodiscard]] bool connect() {
    const std::string subscriber = kit::subscriber_note(topic_.name, found_);
    const auto reference = trial_.notes.find(subscriber);
    if (!reference) return false;
    const std::string name = connected_note(subscriber, index_);
    try {
      const CORBA::Object_var object = RTC::Manager::instance().getORB()->string_to_object(reference->c_str());
      const RTC::PortService_var input = RTC::PortService::_narrow(object);
      const RTC::PortService_var output = output_.port.getPortRef();
      const auto code = CORBA_RTCUtil::connect(name, trial_.options.connector(topic_), output, input);
      if (code != RTC::RTC_OK) throw AdapterError("openrtm: connector " + name + ": " + std::to_string(code));
    } catch (const CORBA::Exception& error) {
      throw AdapterError("openrtm: connector " + name + ": " + error._name());
    }
    trial_.notes.leave(name);
    return true;
  }

  Trial& trial_;
  const Topic topic_;
  const unsigned index_;
  Output& output_;
  std::vector<bool> unwritten_;
  unsigned found_ = 0;
  kit::LastFailure<static_cast<const char* (*)(RTC::DataPortStatus)>(&RTC::toString)> failure_;
};

/// An InPort and its listener. OpenRTM calls the listener for each message, one connector after the other, on the thread
/// that received the message; within one process that is the publisher's thread.
class Subscriber : kit::Pinned, RTC::ConnectorDataListenerT<Message> {
 public:
  static constexpr std::size_t most_per_take = 64;

  Subscriber(Trial& trial, const Topic& topic, unsigned index)
      : trial_(trial),
        topic_(topic),
        note_(kit::subscriber_note(topic.name, index)),
        input_(trial.inputs.emplace_back(topic)) {
    if (trial.settings.reception == Reception::listen) input_.port.addConnectorDataListener(has_come, this, false);
    const RTC::PortService_var port = input_.port.getPortRef();
    const CORBA::String_var reference = RTC::Manager::instance().getORB()->object_to_string(port);
    trial.notes.leave(note_, std::string(reference.in()));
  }
  ~Subscriber() override { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return kit::take_up_to<most_per_take>([this]() noexcept { return read_ || (input_.port.isNew() && read()); },
                                          [&](bool) noexcept {
                                            visitor(std::span<const std::byte>(octets_of(input_.message)));
                                            read_ = false;
                                          });
  }
  /// Waits until a message has arrived or `timeout` has passed. Calls read() repeatedly; each call waits at most
  /// inport.buffer.read.timeout (see Options::connector()).
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    const kit::Deadline deadline(timeout);
    while (!read_ && !read() && !deadline.passed()) {
    }
    return read_;
  }

  /// Delivers the messages in the buffer. Callbacks for messages that arrive during this call wait until it returns.
  void listen(Listener listener) {
    listener_ = listener;
    hearing_ = Hearing::what_is_there;
    take_all();
    hearing_ = Hearing::everything;
    hearing_.notify_all();
  }
  void silence() { input_.port.removeConnectorDataListener(has_come, this); }

  [[nodiscard]] std::size_t publishers_found() {
    while (found_ < topic_.publishers && trial_.notes.find(connected_note(note_, found_))) ++found_;
    return found_;
  }

 private:
  enum class Hearing : std::uint8_t { nothing, what_is_there, everything };
  static constexpr auto has_come = RTC::ConnectorDataListenerType::ON_BUFFER_WRITE;

  /// OpenRTM calls this after it has put a message into the buffer.
  ReturnCode operator()(RTC::ConnectorInfo& /*connector*/, RTC::ByteData& /*message*/,
                        const std::string& /*marshaling*/) override {
    if (hearing_ == Hearing::nothing) return NO_CHANGE;
    hearing_.wait(Hearing::what_is_there);
    take_all();
    return NO_CHANGE;
  }
  /// A direct connector calls this on the publisher's thread. It has no buffer, so the publisher waits until listen() was
  /// called.
  ReturnCode operator()(RTC::ConnectorInfo& /*connector*/, Message& message) override {
    const auto heard = [this] { return hearing_ == Hearing::everything; };
    if (kit::wait_until(heard, trial_.settings.write_timeout)) listener_(octets_of(message));
    return NO_CHANGE;
  }

  void take_all() noexcept {
    while (take(listener_) == most_per_take) {
    }
  }
  [[nodiscard]] bool read() noexcept {
    try {
      return read_ = input_.port.read();
    } catch (...) {
      return false;
    }
  }

  Trial& trial_;
  const Topic topic_;
  const std::string note_;
  Input& input_;
  Listener listener_;
  std::atomic<Hearing> hearing_{Hearing::nothing};
  bool read_ = false;  ///< `input_.message` contains a message that was not visited yet
  unsigned found_ = 0;
};

}  // namespace middlemark::openrtm
