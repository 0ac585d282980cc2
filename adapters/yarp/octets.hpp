// A message as YARP sends it: a length of 4 bytes, then the octets. YARP reads and writes the adapter's memory directly.
#pragma once

#include <yarp/os/ConnectionReader.h>
#include <yarp/os/ConnectionWriter.h>
#include <yarp/os/Portable.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <middlemark/kit/memory.hpp>

namespace middlemark::yarp {

class Octets : public ::yarp::os::Portable {
 public:
  Octets() : Octets(0) {}  // YARP's queue only compiles if this exists, and never calls it
  explicit Octets(std::size_t capacity, bool touched = true) : memory_(capacity, touched) {}

  [[nodiscard]] std::span<std::byte> span() const noexcept { return memory_.span().first(size_); }
  [[nodiscard]] std::span<std::byte> resized(std::size_t bytes) noexcept {
    size_ = bytes;
    return span();
  }

  /// Copies another message. The carrier `local` needs this: it passes the publisher's own object, which the publisher
  /// soon overwrites.
  void copy(const Octets& other) noexcept {
    std::memcpy(resized(other.size_).data(), other.memory_.data(), other.size_);
  }

  bool read(::yarp::os::ConnectionReader& connection) override {
    const std::int32_t bytes = connection.expectInt32();
    if (connection.isError() || bytes < 0 || static_cast<std::size_t>(bytes) > memory_.size()) return false;
    size_ = static_cast<std::size_t>(bytes);
    return connection.expectBlock(reinterpret_cast<char*>(memory_.data()), size_) && !connection.isError();
  }
  bool write(::yarp::os::ConnectionWriter& connection) const override {
    connection.appendInt32(static_cast<std::int32_t>(size_));
    connection.appendExternalBlock(reinterpret_cast<const char*>(memory_.data()), size_);
    return !connection.isError();
  }

  /// Writes as write() does, except that YARP copies the octets. For callers that change the message before YARP has
  /// sent it.
  bool write_copy(::yarp::os::ConnectionWriter& connection) const {
    connection.appendInt32(static_cast<std::int32_t>(size_));
    connection.appendBlock(reinterpret_cast<const char*>(memory_.data()), size_);
    return !connection.isError();
  }

  /// Reads a message from the connection and drops it.
  static bool skip(::yarp::os::ConnectionReader& connection) {
    std::array<char, 16'384> nowhere;
    std::int64_t left = connection.expectInt32();
    while (left > 0 && !connection.isError()) {
      const auto next = std::min<std::int64_t>(left, nowhere.size());
      connection.expectBlock(nowhere.data(), static_cast<std::size_t>(next));
      left -= next;
    }
    return !connection.isError();
  }

 private:
  kit::Memory memory_;
  std::size_t size_ = 0;
};

}  // namespace middlemark::yarp
