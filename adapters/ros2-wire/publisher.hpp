// Data writers of sequences of bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cyclonedds/messages.hpp>
#include <cyclonedds/native.hpp>
#include <cyclonedds/writer.hpp>
#include <middlemark/adapter.hpp>

#include "types.hpp"

namespace middlemark::ros2_wire {

/// A sample that is filled and written repeatedly. `Sample` is UInt8MultiArray or Call.
template <class Sample>
class Outgoing {
 public:
  Outgoing(cyclonedds::Entity writer, const cyclonedds::Native& native, std::size_t bytes)
      : writer_(std::move(writer), native), memory_(bytes) {
    const auto length = static_cast<std::uint32_t>(bytes);
    sample.data = {length, length, memory_.data(), false};
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes > memory_.size()) return {};
    sample.data.length = static_cast<std::uint32_t>(bytes);
    return std::span(memory_).first(bytes);
  }
  [[nodiscard]] Published publish() noexcept { return write(&sample); }
  [[nodiscard]] std::size_t matched() { return writer_.matched(); }
  [[nodiscard]] std::string last_error() const { return writer_.last_error(); }

  Sample sample;

 protected:
  [[nodiscard]] Published write(const void* any) noexcept { return writer_.write(any); }

 private:
  cyclonedds::Writer writer_;
  std::vector<std::byte> memory_;
};

/// The publisher of a topic, whose messages may be typed.
class Publisher : public Outgoing<UInt8MultiArray> {
 public:
  Publisher(cyclonedds::Entity writer, const cyclonedds::Native& native, MessageType type, std::size_t bytes)
      : Outgoing(std::move(writer), native, type == MessageType::octets ? bytes : 0),
        typed_(cyclonedds::make_message(type, bytes)) {}

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    return typed_ ? typed_->array() : Outgoing::loan(bytes);
  }
  [[nodiscard]] Published publish() noexcept { return typed_ ? write(typed_->to_send()) : Outgoing::publish(); }

 private:
  std::unique_ptr<kit::TypedMessage> typed_;  // null for octets
};

}  // namespace middlemark::ros2_wire
