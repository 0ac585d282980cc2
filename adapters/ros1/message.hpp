// The message of every topic and service, `uint8[] data`, with the traits that roscpp needs, because the type has no
// generated code. Also the pool of messages that are published as shared pointers.
#pragma once

#include <ros/message_traits.h>
#include <ros/serialization.h>
#include <ros/service_traits.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <span>

#include <boost/make_shared.hpp>
#include <boost/shared_array.hpp>
#include <boost/shared_ptr.hpp>

#include <middlemark/kit/deadline.hpp>

namespace middlemark::ros1 {

/// Octets. Copies share the memory. Unlike the vector of a generated message, it is not cleared before a reception.
struct Bytes {
  Bytes() = default;
  /// Makes a message for the publisher. Clears its memory, so that the pages exist before the trial.
  explicit Bytes(std::size_t bytes) {
    make(bytes);
    std::memset(data.get(), 0, bytes);
  }

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

/// The number of bytes in serialized messages that roscpp has not sent yet. A global variable, because roscpp may free
/// its last buffers after the adapter was destroyed.
inline std::atomic<std::size_t> bytes_waiting{0};

/// A ring of messages in the order of publishing. A message is free again when the last subscriber has released it. The ring
/// grows up to `most` messages (at least two), so a publisher no longer allocates once its subscribers' queues are full.
class MessagePool {
 public:
  MessagePool(std::size_t bytes, std::size_t most) : bytes_(bytes), most_(most) {
    add(ring_.end());
    add(ring_.end());
    in_hand_ = ring_.begin();
  }

  [[nodiscard]] const BytesPtr& in_hand() const noexcept { return *in_hand_; }

  /// Finds a free message, which in_hand() returns after handed_over(). Waits while no message is free; returns false
  /// after `timeout`.
  [[nodiscard]] bool find_next(std::chrono::nanoseconds timeout) {
    if (!next_is_free() && ring_.size() < most_) add(std::next(in_hand_));
    return kit::wait_until([this] { return next_is_free(); }, timeout);
  }
  void handed_over() noexcept { in_hand_ = next_; }

 private:
  [[nodiscard]] bool next_is_free() noexcept {
    next_ = std::next(in_hand_);
    if (next_ == ring_.end()) next_ = ring_.begin();
    if (next_->use_count() != 1) return false;
    std::atomic_thread_fence(std::memory_order_acquire);  // no write may move before the last subscriber's reads
    return true;
  }

  void add(std::list<BytesPtr>::iterator before) { ring_.insert(before, boost::make_shared<Bytes>(bytes_)); }

  std::size_t bytes_;
  std::size_t most_;
  std::list<BytesPtr> ring_;
  std::list<BytesPtr>::iterator in_hand_;
  std::list<BytesPtr>::iterator next_;
};

}  // namespace middlemark::ros1

// The md5sum of a topic is that of the definition's text; the md5sum of a service is that of request and response together.
ROS_IMPLEMENT_SIMPLE_TOPIC_TRAITS(middlemark::ros1::Bytes, "f43a8e1b362b75baa741461b46adc7e0", "middlemark/Bytes",
                                  "uint8[] data\n")
template <>
struct ros::service_traits::MD5Sum<middlemark::ros1::Bytes> {
  static const char* value(const auto&... /*message*/) { return "07ca5999d9d671038b26b777e731c7f0"; }
};
template <>
struct ros::service_traits::DataType<middlemark::ros1::Bytes> {
  static const char* value(const auto&... /*message*/) { return "middlemark/Exchange"; }
};

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
    const std::uint8_t* const from = stream.advance(bytes);  // throws when the message is shorter
    if (message.size != bytes || message.data.use_count() != 1) message.make(bytes);
    std::memcpy(message.data.get(), from, bytes);
  }
  static std::uint32_t serializedLength(const middlemark::ros1::Bytes& message) {
    return static_cast<std::uint32_t>(sizeof message.size) + message.size;
  }
};

}  // namespace ros::serialization

namespace middlemark::ros1 {

/// Serializes a message as roscpp does. `bytes_waiting` counts the buffer until roscpp frees it.
template <class Message>
ros::SerializedMessage counted(const Message& message) {
  const std::uint32_t content = ros::serialization::serializationLength(message);
  const std::size_t whole = sizeof content + content;
  const boost::shared_array<std::uint8_t> buffer(new std::uint8_t[whole], [whole](const std::uint8_t* sent) noexcept {
    bytes_waiting.fetch_sub(whole, std::memory_order_relaxed);
    delete[] sent;
  });
  bytes_waiting.fetch_add(whole, std::memory_order_relaxed);
  ros::SerializedMessage serialized(buffer, whole);
  ros::serialization::OStream stream(buffer.get(), static_cast<std::uint32_t>(whole));
  stream.next(content);
  serialized.message_start = stream.getData();
  ros::serialization::serialize(stream, message);
  return serialized;
}

}  // namespace middlemark::ros1

namespace ros::serialization {

template <>
inline SerializedMessage serializeMessage(const middlemark::ros1::Bytes& message) {
  return middlemark::ros1::counted(message);
}

}  // namespace ros::serialization
