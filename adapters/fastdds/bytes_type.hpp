// The type of every message: a fixed array of bytes whose size is known when the trial starts. Plain and bounded, which
// is what Fast DDS asks of a type before it lends its memory or shares it between processes; no code generator is
// needed.
#pragma once

#include <fastdds/dds/topic/TopicDataType.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

namespace middlemark::fastdds {

class BytesType final : public eprosima::fastdds::dds::TopicDataType {
  using Payload = eprosima::fastrtps::rtps::SerializedPayload_t;

 public:
  /// The encapsulation in front of every serialized sample.
  static constexpr std::uint32_t header_bytes = Payload::representation_header_size;

  explicit BytesType(std::uint32_t bytes) : bytes_(bytes) {
    m_typeSize = bytes + header_bytes;
    setName(name_of(bytes).c_str());
    auto_fill_type_object(false);
    auto_fill_type_information(false);
  }

  /// Two sizes are two types, so that endpoints of different sizes never match.
  [[nodiscard]] static std::string name_of(std::uint32_t bytes) { return "middlemark::Bytes" + std::to_string(bytes); }

  bool serialize(void* data, Payload* payload) override {
    if (payload->max_size < m_typeSize) return false;
    payload->data[0] = 0;
    payload->data[1] = CDR_LE;
    payload->data[2] = 0;
    payload->data[3] = 0;
    payload->encapsulation = CDR_LE;
    std::memcpy(payload->data + header_bytes, data, bytes_);
    payload->length = m_typeSize;
    payload->pos = m_typeSize;
    return true;
  }

  /// Not used by this adapter, which takes loans of plain samples; kept whole for whoever reads into memory of their
  /// own.
  bool deserialize(Payload* payload, void* data) override {
    if (payload->length != m_typeSize) return false;
    std::memcpy(data, payload->data + header_bytes, bytes_);
    return true;
  }

  std::function<std::uint32_t()> getSerializedSizeProvider(void* /*data*/) override {
    return [size = m_typeSize] { return size; };
  }

  void* createData() override { return new std::byte[bytes_]{}; }
  void deleteData(void* data) override { delete[] static_cast<std::byte*>(data); }

  bool getKey(void* /*data*/, eprosima::fastrtps::rtps::InstanceHandle_t* /*handle*/, bool /*force_md5*/) override {
    return false;
  }

  bool is_bounded() const override { return true; }
  bool is_plain() const override { return true; }
  bool construct_sample(void* memory) const override {
    std::memset(memory, 0, bytes_);
    return true;
  }

 private:
  std::uint32_t bytes_;
};

}  // namespace middlemark::fastdds
