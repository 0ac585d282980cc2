// A data writer of byte sequences.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cyclonedds/native.hpp>
#include <cyclonedds/writer.hpp>
#include <middlemark/adapter.hpp>

#include "types.hpp"

namespace middlemark::ros2_wire {

/// One sample that is filled and written again and again; `Sample` is UInt8MultiArray or Call.
template <class Sample>
class Outgoing {
 public:
  Outgoing(cyclonedds::Entity writer, const cyclonedds::Native& native, std::size_t bytes)
      : writer_(std::move(writer), native), memory_(bytes) {
    const auto length = static_cast<std::uint32_t>(bytes);
    sample.data = {length, length, memory_.data(), false};
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    return bytes == memory_.size() ? std::span(memory_) : std::span<std::byte>();
  }
  [[nodiscard]] Published publish() noexcept { return writer_.write(&sample); }
  [[nodiscard]] std::size_t matched() { return writer_.matched(); }
  [[nodiscard]] std::string last_error() const { return writer_.last_error(); }

  Sample sample;

 private:
  cyclonedds::Writer writer_;
  std::vector<std::byte> memory_;
};

using Publisher = Outgoing<UInt8MultiArray>;

}  // namespace middlemark::ros2_wire
