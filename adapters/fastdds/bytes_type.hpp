// The type of every message: a fixed array of bytes whose size is known when the trial starts. Plain and bounded, which
// is what Fast DDS asks of a type before it lends its memory or shares it between processes; no code generator is
// needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "version.hpp"

namespace middlemark::fastdds {

class BytesType final : public PlainType<BytesType> {
 public:
  /// The encapsulation in front of every serialized sample.
  static constexpr std::uint32_t header_bytes = Payload::representation_header_size;

  explicit BytesType(std::uint32_t bytes) : PlainType(name_of(bytes), bytes + header_bytes), bytes_(bytes) {}

  /// Two sizes are two types, so that endpoints of different sizes never match.
  [[nodiscard]] static std::string name_of(std::uint32_t bytes) { return "middlemark::Bytes" + std::to_string(bytes); }

  [[nodiscard]] bool encode(const void* sample, Payload& payload) const {
    if (payload.max_size < serialized_bytes()) return false;
    payload.data[0] = 0;
    payload.data[1] = CDR_LE;
    payload.data[2] = 0;
    payload.data[3] = 0;
    payload.encapsulation = CDR_LE;
    std::memcpy(payload.data + header_bytes, sample, bytes_);
    payload.length = serialized_bytes();
    payload.pos = serialized_bytes();
    return true;
  }

  /// Not used by this adapter, which takes loans of plain samples; kept whole for whoever reads into memory of their
  /// own.
  [[nodiscard]] bool decode(const Payload& payload, void* sample) const {
    if (payload.length != serialized_bytes()) return false;
    std::memcpy(sample, payload.data + header_bytes, bytes_);
    return true;
  }

  [[nodiscard]] void* create() const { return new std::byte[bytes_]{}; }
  void destroy(void* sample) const { delete[] static_cast<std::byte*>(sample); }
  void construct(void* memory) const { std::memset(memory, 0, bytes_); }

 private:
  std::uint32_t bytes_;
};

}  // namespace middlemark::fastdds
