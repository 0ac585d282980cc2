// Request and reply as rmw_cyclonedds builds them from two topics: the header of a request contains the client's handle and
// a sequence number, and the reply repeats this header.
#pragma once

#include <dds/dds.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <cyclonedds/subscriber.hpp>
#include <middlemark/adapter.hpp>

#include "intake.hpp"
#include "publisher.hpp"

namespace middlemark::ros2_wire {

/// The common part of clients and servers: incoming and outgoing calls.
class End {
 public:
  End(cyclonedds::Entity reader, CallIntake intake, cyclonedds::Entity writer, const cyclonedds::Native& native,
      std::size_t bytes, Reception reception)
      : outgoing_(std::move(writer), native, bytes), incoming_(std::move(reader), std::move(intake), reception) {}

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept { return outgoing_.loan(bytes); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return incoming_.take(visitor);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return incoming_.wait(timeout); }
  void listen(Listener listener) { incoming_.listen(listener); }
  void silence() { incoming_.silence(); }

  /// Returns the number of peers found, i.e. whose reader and writer were both found.
  [[nodiscard]] std::size_t matched() { return std::min(outgoing_.matched(), incoming_.publishers_found()); }

  [[nodiscard]] std::string last_error() const {
    const std::string sending = outgoing_.last_error();
    return sending.empty() ? incoming_.last_error() : sending;
  }

 protected:
  Outgoing<Call> outgoing_;
  cyclonedds::Subscriber<CallIntake>
      incoming_;  // the last member: its callbacks must end before the others are destroyed
};

class Client : public End {
 public:
  Client(cyclonedds::Entity reader, cyclonedds::Entity writer, std::uint64_t id, const cyclonedds::Native& native,
         std::size_t bytes, Reception reception)
      : End(std::move(reader), CallIntake(bytes, id), std::move(writer), native, bytes, reception) {
    outgoing_.sample.writer = id;
  }

  [[nodiscard]] Published publish() noexcept {
    ++outgoing_.sample.sequence;
    return outgoing_.publish();
  }
};

class Server : public End {
 public:
  Server(cyclonedds::Entity reader, cyclonedds::Entity writer, const cyclonedds::Native& native, std::size_t bytes,
         Reception reception)
      : End(std::move(reader), CallIntake(bytes, {}), std::move(writer), native, bytes, reception) {}

  [[nodiscard]] Published publish() noexcept {
    const Call* request = incoming_.intake().current();
    if (request == nullptr) return Published::failed;
    outgoing_.sample.writer = request->writer;
    outgoing_.sample.sequence = request->sequence;
    return outgoing_.publish();
  }
};

}  // namespace middlemark::ros2_wire
