// The typed messages as plain structs, and their CDR by Fast CDR, field by field as fastddsgen generates it. Only if
// MIDDLEMARK_FASTCDR is defined: the major version of the library (cmake/MiddlemarkCdr.cmake).
#pragma once

#include <middlemark/kit/typed.hpp>

#ifdef MIDDLEMARK_FASTCDR

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>

namespace middlemark::kit {
namespace plain {

struct Time {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
  static auto members(auto& it) { return std::tie(it.sec, it.nanosec); }
};
struct Header {
  Time stamp;
  std::string frame_id;
  static auto members(auto& it) { return std::tie(it.stamp, it.frame_id); }
};
struct Image {
  Header header;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::string encoding;
  std::uint8_t is_bigendian = 0;
  std::uint32_t step = 0;
  std::vector<std::uint8_t> data;
  static auto members(auto& it) {
    return std::tie(it.header, it.height, it.width, it.encoding, it.is_bigendian, it.step, it.data);
  }
};
struct PointField {
  std::string name;
  std::uint32_t offset = 0;
  std::uint8_t datatype = 0;
  std::uint32_t count = 0;
  static auto members(auto& it) { return std::tie(it.name, it.offset, it.datatype, it.count); }
};
struct PointCloud {
  Header header;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::vector<PointField> fields;
  bool is_bigendian = false;
  std::uint32_t point_step = 0;
  std::uint32_t row_step = 0;
  std::vector<std::uint8_t> data;
  bool is_dense = false;
  static auto members(auto& it) {
    return std::tie(it.header, it.height, it.width, it.fields, it.is_bigendian, it.point_step, it.row_step, it.data,
                    it.is_dense);
  }
};
struct Vector3 {
  double x = 0;
  double y = 0;
  double z = 0;
  static auto members(auto& it) { return std::tie(it.x, it.y, it.z); }
};
struct Quaternion {
  double x = 0;
  double y = 0;
  double z = 0;
  double w = 0;
  static auto members(auto& it) { return std::tie(it.x, it.y, it.z, it.w); }
};
struct Imu {
  Header header;
  Quaternion orientation;
  std::array<double, 9> orientation_covariance{};
  Vector3 angular_velocity;
  std::array<double, 9> angular_velocity_covariance{};
  Vector3 linear_acceleration;
  std::array<double, 9> linear_acceleration_covariance{};
  static auto members(auto& it) {
    return std::tie(it.header, it.orientation, it.orientation_covariance, it.angular_velocity,
                    it.angular_velocity_covariance, it.linear_acceleration, it.linear_acceleration_covariance);
  }
};
struct Transform {
  Vector3 translation;
  Quaternion rotation;
  static auto members(auto& it) { return std::tie(it.translation, it.rotation); }
};
struct TransformStamped {
  Header header;
  std::string child_frame_id;
  Transform transform;
  static auto members(auto& it) { return std::tie(it.header, it.child_frame_id, it.transform); }
};
struct Tf {
  std::vector<TransformStamped> transforms;
  static auto members(auto& it) { return std::tie(it.transforms); }
};

}  // namespace plain

namespace cdr {

template <class T>
concept Struct = requires(T& it) { T::members(it); };

template <class T>
void write(eprosima::fastcdr::Cdr& stream, const T& value) {
  if constexpr (Struct<T>) {
    std::apply([&stream](const auto&... each) { (write(stream, each), ...); }, T::members(value));
  } else if constexpr (requires { requires Struct<typename T::value_type>; }) {
    stream << static_cast<std::uint32_t>(value.size());
    for (const auto& each : value) write(stream, each);
  } else {
    stream << value;
  }
}

/// `most`: the highest valid number of elements of a sequence; a larger number means a damaged message.
template <class T>
void read(eprosima::fastcdr::Cdr& stream, T& value, std::size_t most) {
  if constexpr (Struct<T>) {
    std::apply([&stream, most](auto&... each) { (read(stream, each, most), ...); }, T::members(value));
  } else if constexpr (requires { requires Struct<typename T::value_type>; }) {
    std::uint32_t count = 0;
    stream >> count;
    if (count > most) throw std::length_error("more elements than bytes");
    value.resize(count);
    for (auto& each : value) read(stream, each, most);
  } else {
    stream >> value;
  }
}

inline constexpr auto endianness = eprosima::fastcdr::Cdr::LITTLE_ENDIANNESS;

/// A CDR stream over `memory`, in the format of DDS messages.
class Stream {
 public:
  explicit Stream(std::span<std::byte> memory)
      : buffer_(reinterpret_cast<char*>(memory.data()), memory.size()),
#if MIDDLEMARK_FASTCDR == 1
        cdr_(buffer_, endianness, eprosima::fastcdr::Cdr::DDS_CDR)
#else
        cdr_(buffer_, endianness, eprosima::fastcdr::CdrVersion::XCDRv1)
#endif
  {
  }
  [[nodiscard]] eprosima::fastcdr::Cdr& cdr() noexcept { return cdr_; }
  [[nodiscard]] std::size_t written() const {
#if MIDDLEMARK_FASTCDR == 1
    return cdr_.getSerializedDataLength();
#else
    return cdr_.get_serialized_data_length();
#endif
  }

 private:
  eprosima::fastcdr::FastBuffer buffer_;
  eprosima::fastcdr::Cdr cdr_;
};

}  // namespace cdr

struct CdrCoding : StandardFields {
  using Image = plain::Image;
  using PointCloud = plain::PointCloud;
  using Imu = plain::Imu;
  using Tf = plain::Tf;

  static constexpr const char* name = "bytes + CDR";

  template <class Message>
  [[nodiscard]] static std::size_t encode(const Message& message, std::span<std::byte> memory) noexcept {
    try {
      cdr::Stream stream(memory);
      stream.cdr().serialize_encapsulation();
      cdr::write(stream.cdr(), message);
      return stream.written();
    } catch (const std::exception&) {  // the memory is too small
      return 0;
    }
  }
  template <class Message>
  [[nodiscard]] static bool decode(Message& message, std::span<const std::byte> bytes) noexcept {
    try {
      cdr::Stream stream({const_cast<std::byte*>(bytes.data()), bytes.size()});
      stream.cdr().read_encapsulation();
      cdr::read(stream.cdr(), message, bytes.size());
      return true;
    } catch (const std::exception&) {  // there are too few bytes, or a length among them is wrong
      return false;
    }
  }
};

template <class A>
using BytesAndCdr = Typed<A, CdrCoding>;

}  // namespace middlemark::kit

#else

namespace middlemark::kit {

/// Without Fast CDR the adapter carries octets only.
template <class A>
using BytesAndCdr = A;

}  // namespace middlemark::kit

#endif
