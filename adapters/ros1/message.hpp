// The message of every topic and service: `uint8[] data`, with the traits roscpp asks of a type that no generator made.
#pragma once

#include <ros/message_traits.h>
#include <ros/serialization.h>
#include <ros/service_traits.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include <boost/shared_array.hpp>
#include <boost/shared_ptr.hpp>

namespace middlemark::ros1 {

/// Copies share their memory. It is not cleared: a generated message's vector would be before every reception.
struct Bytes {
  Bytes() = default;
  explicit Bytes(std::size_t bytes) { make(bytes); }

  void make(std::size_t bytes) {
    data = std::make_shared_for_overwrite<std::uint8_t[]>(bytes);
    size = static_cast<std::uint32_t>(bytes);
  }
  [[nodiscard]] std::span<std::byte> span() const noexcept { return {reinterpret_cast<std::byte*>(data.get()), size}; }

  std::shared_ptr<std::uint8_t[]> data;
  std::uint32_t size = 0;
};

using BytesPtr = boost::shared_ptr<Bytes>;
using BytesConstPtr = boost::shared_ptr<const Bytes>;

/// Bytes of serialized messages that roscpp has not sent yet. Global: roscpp may let go of the last after all of ours has.
inline std::atomic<std::size_t> bytes_waiting{0};

struct Counted {
  std::size_t bytes;
  void operator()(const std::uint8_t* buffer) const noexcept {
    bytes_waiting.fetch_sub(bytes, std::memory_order_relaxed);
    delete[] buffer;
  }
};

// md5sum of the definition's text, and of request and response together
inline constexpr const char* message_md5 = "f43a8e1b362b75baa741461b46adc7e0";
inline constexpr const char* service_md5 = "07ca5999d9d671038b26b777e731c7f0";

}  // namespace middlemark::ros1

namespace ros::message_traits {

template <>
struct MD5Sum<middlemark::ros1::Bytes> {
  static const char* value() { return middlemark::ros1::message_md5; }
  static const char* value(const middlemark::ros1::Bytes& /*message*/) { return value(); }
};
template <>
struct DataType<middlemark::ros1::Bytes> {
  static const char* value() { return "middlemark/Bytes"; }
  static const char* value(const middlemark::ros1::Bytes& /*message*/) { return value(); }
};
template <>
struct Definition<middlemark::ros1::Bytes> {
  static const char* value() { return "uint8[] data\n"; }
  static const char* value(const middlemark::ros1::Bytes& /*message*/) { return value(); }
};

}  // namespace ros::message_traits

namespace ros::service_traits {

template <>
struct MD5Sum<middlemark::ros1::Bytes> {
  static const char* value() { return middlemark::ros1::service_md5; }
  static const char* value(const middlemark::ros1::Bytes& /*message*/) { return value(); }
};
template <>
struct DataType<middlemark::ros1::Bytes> {
  static const char* value() { return "middlemark/Exchange"; }
  static const char* value(const middlemark::ros1::Bytes& /*message*/) { return value(); }
};

}  // namespace ros::service_traits

namespace ros::serialization {

template <>
struct Serializer<middlemark::ros1::Bytes> {
  template <class Stream>
  static void write(Stream& stream, const middlemark::ros1::Bytes& message) {
    stream.next(message.size);
    std::memcpy(stream.advance(message.size), message.data.get(), message.size);
  }
  template <class Stream>
  static void read(Stream& stream, middlemark::ros1::Bytes& message) {
    std::uint32_t bytes = 0;
    stream.next(bytes);
    const std::uint8_t* const from = stream.advance(bytes);  // throws when there are fewer
    if (message.size != bytes || message.data.use_count() != 1) message.make(bytes);
    std::memcpy(message.data.get(), from, bytes);
  }
  static std::uint32_t serializedLength(const middlemark::ros1::Bytes& message) {
    return static_cast<std::uint32_t>(sizeof message.size) + message.size;
  }
};

/// As roscpp does it for every type, in a buffer that is counted until roscpp lets go of it.
template <>
inline SerializedMessage serializeMessage(const middlemark::ros1::Bytes& message) {
  const std::uint32_t content = serializationLength(message);
  const std::size_t whole = sizeof content + content;
  const boost::shared_array<std::uint8_t> buffer(new std::uint8_t[whole], middlemark::ros1::Counted{whole});
  middlemark::ros1::bytes_waiting.fetch_add(whole, std::memory_order_relaxed);
  SerializedMessage serialized(buffer, whole);
  OStream stream(buffer.get(), static_cast<std::uint32_t>(whole));
  stream.next(content);
  serialized.message_start = stream.getData();
  serialize(stream, message);
  return serialized;
}

}  // namespace ros::serialization
