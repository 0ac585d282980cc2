// Fills and checks the typed messages Image, PointCloud2, Imu and TFMessage of ROS's common interfaces, in the structs
// that a middleware's own generator makes. Each message has a main array, which contains the core's header and payload.
// All other fields are constant: they are set once and compared after each reception.
//
// A generated struct has the field names of the interfaces. `Types` says how the struct represents texts, sequences and
// owned memory:
//   Image, PointCloud, Imu, Tf                the structs
//   set(text, "words")   is(text, "words")    texts
//   resize(sequence, n)  elements(sequence)   sequences; elements() returns a std::span
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include <middlemark/kit/pinned.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::kit {

inline constexpr std::size_t imu_bytes = 37 * sizeof(double);       ///< all numbers of an imu
inline constexpr std::size_t transform_bytes = 7 * sizeof(double);  ///< one transform of a tf
inline constexpr std::size_t point_bytes = 4 * sizeof(float);       ///< x, y, z and intensity

/// Returns whether the main array of a message of this type can have this size. The launcher's types.py repeats this
/// rule.
[[nodiscard]] constexpr bool fits(MessageType type, std::size_t bytes) noexcept {
  switch (type) {
    case MessageType::octets:
    case MessageType::image:
      return true;
    case MessageType::point_cloud:
      return bytes % point_bytes == 0;
    case MessageType::imu:
      return bytes == imu_bytes;
    case MessageType::tf:
      return bytes % transform_bytes == 0;
  }
  return false;
}

inline const std::vector<MessageType> all_types{MessageType::octets, MessageType::image, MessageType::point_cloud,
                                                MessageType::imu, MessageType::tf};

namespace messages {

// The values of the constant fields.
inline constexpr const char* frame = "sensor_link";
inline constexpr const char* child_frame = "wheel_link";
inline constexpr const char* encoding = "mono8";
inline constexpr std::int32_t stamp_s = 1'700'000'000;
inline constexpr std::array<const char*, 4> point_fields{"x", "y", "z", "intensity"};
inline constexpr std::uint8_t float32 = 7;  // sensor_msgs/PointField

template <class Types, class Header>
void compose_header(Header& header) {
  header.stamp.sec = stamp_s;
  Types::set(header.frame_id, frame);
}
template <class Types, class Header>
[[nodiscard]] bool intact_header(const Header& header) noexcept {
  return header.stamp.sec == stamp_s && Types::is(header.frame_id, frame);
}

template <class T>
[[nodiscard]] auto bytes_of(T& object, std::size_t bytes) noexcept {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return std::span<Byte>(reinterpret_cast<Byte*>(&object), bytes);
}

template <class Types>
struct Image {
  using Struct = typename Types::Image;

  static void compose(Struct& message, std::size_t bytes) {
    compose_header<Types>(message.header);
    message.height = 1;
    message.width = message.step = static_cast<decltype(message.step)>(bytes);
    Types::set(message.encoding, encoding);
    Types::resize(message.data, bytes);
  }
  [[nodiscard]] static bool intact(const Struct& message, std::size_t bytes) noexcept {
    return intact_header<Types>(message.header) && message.height == 1 && std::size_t(message.width) == bytes &&
           std::size_t(message.step) == bytes && message.is_bigendian == 0 && Types::is(message.encoding, encoding);
  }
  [[nodiscard]] static auto array(auto& message) noexcept {
    return std::as_writable_bytes(Types::elements(message.data));
  }
};

template <class Types>
struct PointCloud {
  using Struct = typename Types::PointCloud;

  static void compose(Struct& message, std::size_t bytes) {
    compose_header<Types>(message.header);
    message.height = 1;
    message.width = static_cast<decltype(message.width)>(bytes / point_bytes);
    message.point_step = point_bytes;
    message.row_step = static_cast<decltype(message.row_step)>(bytes);
    message.is_dense = 1;
    Types::resize(message.fields, point_fields.size());
    std::size_t i = 0;
    for (auto& field : Types::elements(message.fields)) {
      Types::set(field.name, point_fields[i]);
      field.offset = static_cast<decltype(field.offset)>(sizeof(float) * i++);
      field.datatype = float32;
      field.count = 1;
    }
    Types::resize(message.data, bytes);
  }
  [[nodiscard]] static bool intact(const Struct& message, std::size_t bytes) noexcept {
    const auto fields = Types::elements(message.fields);
    if (fields.size() != point_fields.size()) return false;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto& field = fields[i];
      if (!Types::is(field.name, point_fields[i]) || std::size_t(field.offset) != sizeof(float) * i ||
          field.datatype != float32 || field.count != 1) {
        return false;
      }
    }
    return intact_header<Types>(message.header) && message.height == 1 &&
           std::size_t(message.width) == bytes / point_bytes && message.point_step == point_bytes &&
           std::size_t(message.row_step) == bytes && message.is_bigendian == 0 && message.is_dense == 1;
  }
  [[nodiscard]] static auto array(auto& message) noexcept {
    return std::as_writable_bytes(Types::elements(message.data));
  }
};

/// An imu. Its numbers are adjacent in every middleware's struct, so they are the main array.
template <class Types>
struct Imu {
  using Struct = typename Types::Imu;

  static void compose(Struct& message, std::size_t /*bytes*/) { compose_header<Types>(message.header); }
  [[nodiscard]] static bool intact(const Struct& message, std::size_t /*bytes*/) noexcept {
    return intact_header<Types>(message.header);
  }
  [[nodiscard]] static auto array(auto& message) noexcept {
    using Numbers = std::array<double, 37>;
    static_assert(sizeof message.orientation + 2 * sizeof message.angular_velocity +
                      3 * sizeof message.orientation_covariance ==
                  sizeof(Numbers));
    return bytes_of(message.orientation, imu_bytes);
  }
};

/// A list of transforms, whose numbers are not adjacent in the struct. The main array is a copy: it is copied into the
/// struct before sending and out of the struct after receiving.
template <class Types>
struct Tf {
  using Struct = typename Types::Tf;

  static void compose(Struct& message, std::size_t bytes) {
    Types::resize(message.transforms, bytes / transform_bytes);
    for (auto& each : Types::elements(message.transforms)) {
      compose_header<Types>(each.header);
      Types::set(each.child_frame_id, child_frame);
    }
  }
  [[nodiscard]] static bool intact(const Struct& message, std::size_t bytes) noexcept {
    const auto transforms = Types::elements(message.transforms);
    return transforms.size() == bytes / transform_bytes && std::ranges::all_of(transforms, [](const auto& each) {
             return intact_header<Types>(each.header) && Types::is(each.child_frame_id, child_frame);
           });
  }
  static void scatter(Struct& message, std::span<const std::byte> numbers) noexcept {
    const std::byte* from = numbers.data();
    for (auto& each : Types::elements(message.transforms)) {
      static_assert(sizeof each.transform == transform_bytes);
      std::memcpy(reinterpret_cast<std::byte*>(&each.transform), from, transform_bytes);
      from += transform_bytes;
    }
  }
  static void gather(const Struct& message, std::span<std::byte> numbers) noexcept {
    for (const auto& each : Types::elements(message.transforms)) {
      if (numbers.empty()) return;
      std::memcpy(numbers.data(), reinterpret_cast<const std::byte*>(&each.transform), transform_bytes);
      numbers = numbers.subspan(transform_bytes);
    }
  }
};

}  // namespace messages

/// One message in a middleware's own struct, of a type that is known only when the trial starts. Not used for octets.
class TypedMessage : Pinned {
 public:
  virtual ~TypedMessage() = default;

  /// Returns the main array, in which the sender writes.
  [[nodiscard]] virtual std::span<std::byte> array() noexcept = 0;
  /// Returns the struct to send, with the content of the main array.
  [[nodiscard]] virtual void* to_send() noexcept = 0;
  /// Returns the struct into which a message is received.
  [[nodiscard]] virtual void* to_fill() noexcept = 0;
  /// Returns the main array of a received message. If any other field differs from what was sent, the array is returned
  /// without its last byte, and the core counts the message as damaged because it is too short.
  [[nodiscard]] virtual std::span<const std::byte> received() noexcept = 0;
};

/// Returns the bytes that are visited if a constant field of the message is wrong: all but the last. They still contain
/// the core's header, which marks warm-up messages.
[[nodiscard]] inline std::span<const std::byte> cut_short(std::span<const std::byte> array,
                                                          std::size_t bytes) noexcept {
  return array.first(std::min(array.size(), bytes) - (array.empty() ? 0 : 1));
}

/// `Shape` is a struct of namespace messages. `Owned` is the middleware's struct, or a type that also releases what the
/// struct owns.
template <template <class> class Shape, class Types, class Owned = typename Shape<Types>::Struct>
class MessageOf final : public TypedMessage {
 public:
  static constexpr bool scattered = requires(Owned& message) { Shape<Types>::scatter(message, {}); };

  explicit MessageOf(std::size_t bytes) : bytes_(bytes), numbers_(scattered ? bytes : 0) {
    Shape<Types>::compose(message_, bytes);
  }

  [[nodiscard]] Owned& message() noexcept { return message_; }

  [[nodiscard]] std::span<std::byte> array() noexcept override {
    if constexpr (scattered) {
      return numbers_;
    } else {
      return Shape<Types>::array(message_);
    }
  }
  [[nodiscard]] void* to_send() noexcept override {
    if constexpr (scattered) Shape<Types>::scatter(message_, numbers_);
    return to_fill();
  }
  [[nodiscard]] void* to_fill() noexcept override { return static_cast<typename Shape<Types>::Struct*>(&message_); }
  [[nodiscard]] std::span<const std::byte> received() noexcept override { return seen(message_); }

  /// Returns the bytes of `message` to visit. `message` may be another object than `message_`.
  [[nodiscard]] std::span<const std::byte> seen(const typename Shape<Types>::Struct& message) noexcept {
    const bool intact = Shape<Types>::intact(message, bytes_);
    if constexpr (scattered) {
      Shape<Types>::gather(message, numbers_);
      return intact ? std::span<const std::byte>(numbers_) : cut_short(numbers_, bytes_);
    } else {
      const std::span<const std::byte> array = constant_array(message);
      return intact && array.size() == bytes_ ? array : cut_short(array, bytes_);
    }
  }

 private:
  [[nodiscard]] static std::span<const std::byte> constant_array(
      const typename Shape<Types>::Struct& message) noexcept {
    return Shape<Types>::array(const_cast<typename Shape<Types>::Struct&>(message));
  }

  std::size_t bytes_;
  std::vector<std::byte> numbers_;
  Owned message_{};
};

/// Calls `make` with the shape of `type`, which must not be octets.
template <class Make>
auto with_shape(MessageType type, Make&& make) {
  switch (type) {
    case MessageType::point_cloud:
      return make.template operator()<messages::PointCloud>();
    case MessageType::imu:
      return make.template operator()<messages::Imu>();
    case MessageType::tf:
      return make.template operator()<messages::Tf>();
    case MessageType::octets:
    case MessageType::image:
      break;
  }
  return make.template operator()<messages::Image>();
}

/// Returns a new message, or null for octets.
template <class Types>
[[nodiscard]] std::unique_ptr<TypedMessage> make_message(MessageType type, std::size_t bytes) {
  if (type == MessageType::octets) return nullptr;
  return with_shape(type, [bytes]<template <class> class Shape>() -> std::unique_ptr<TypedMessage> {
    return std::make_unique<MessageOf<Shape, Types, typename Types::template Owned<typename Shape<Types>::Struct>>>(
        bytes);
  });
}

/// `Types` for generated structs whose texts and sequences are types of the standard library.
struct StandardFields {
  template <class Struct>
  using Owned = Struct;

  static void set(auto& text, const char* words) { text = words; }
  [[nodiscard]] static bool is(const auto& text, const char* words) noexcept { return text == words; }
  static void resize(auto& sequence, std::size_t elements) { sequence.resize(elements); }
  [[nodiscard]] static auto elements(auto& sequence) noexcept { return std::span(sequence); }
};

}  // namespace middlemark::kit
