// All that differs between Fast DDS 2 and 3: headers, names and signatures, under one name each. CMakeLists.txt says which
// was found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <fastdds/dds/core/policy/QosPolicies.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>

#if MIDDLEMARK_FASTDDS_MAJOR == 2
#include <fastdds/rtps/transport/TCPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastrtps/attributes/LibrarySettingsAttributes.h>
#include <fastrtps/types/TypesBase.h>
#include <fastrtps/utils/IPLocator.h>
#include <fastrtps/xmlparser/XMLProfileManager.h>
#else
#include <fastdds/LibrarySettings.hpp>
#include <fastdds/dds/core/ReturnCode.hpp>
#include <fastdds/rtps/transport/TCPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.hpp>
#include <fastdds/utils/IPLocator.hpp>
#endif

namespace middlemark::fastdds {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastdds::rtps;

#if MIDDLEMARK_FASTDDS_MAJOR == 2

namespace renamed = eprosima::fastrtps::rtps;  ///< what version 3 has in eprosima::fastdds::rtps
using Duration = eprosima::fastrtps::Duration_t;
using ReturnCode = eprosima::fastrtps::types::ReturnCode_t;

/// How the files of the SHM transport begin.
inline constexpr const char* shm_files = "fastrtps_";

[[nodiscard]] inline std::uint32_t number_of(const ReturnCode& code) { return code(); }

[[nodiscard]] inline Duration& heartbeat_period(dds::RTPSReliableWriterQos& qos) { return qos.times.heartbeatPeriod; }
[[nodiscard]] inline Duration& nack_response_delay(dds::RTPSReliableWriterQos& qos) {
  return qos.times.nackResponseDelay;
}
[[nodiscard]] inline Duration& nack_suppression(dds::RTPSReliableWriterQos& qos) {
  return qos.times.nackSupressionDuration;
}
[[nodiscard]] inline Duration& heartbeat_response_delay(dds::RTPSReliableReaderQos& qos) {
  return qos.times.heartbeatResponseDelay;
}
[[nodiscard]] inline bool& positive_acks_off(dds::RTPSReliableReaderQos& qos) {
  return qos.disable_positive_ACKs.enabled;
}

inline void deliver_within_the_process(bool allowed) {
  namespace fastrtps = eprosima::fastrtps;
  fastrtps::LibrarySettingsAttributes library;
  library.intraprocess_delivery = allowed ? fastrtps::INTRAPROCESS_FULL : fastrtps::INTRAPROCESS_OFF;
  fastrtps::xmlparser::XMLProfileManager::library_settings(library);
}

#else

namespace renamed = rtps;
using Duration = dds::Duration_t;
using ReturnCode = dds::ReturnCode_t;

inline constexpr const char* shm_files = "fastdds_";

[[nodiscard]] inline std::uint32_t number_of(ReturnCode code) { return static_cast<std::uint32_t>(code); }

[[nodiscard]] inline Duration& heartbeat_period(dds::RTPSReliableWriterQos& qos) { return qos.times.heartbeat_period; }
[[nodiscard]] inline Duration& nack_response_delay(dds::RTPSReliableWriterQos& qos) {
  return qos.times.nack_response_delay;
}
[[nodiscard]] inline Duration& nack_suppression(dds::RTPSReliableWriterQos& qos) {
  return qos.times.nack_supression_duration;
}
[[nodiscard]] inline Duration& heartbeat_response_delay(dds::RTPSReliableReaderQos& qos) {
  return qos.times.heartbeat_response_delay;
}
[[nodiscard]] inline bool& positive_acks_off(dds::RTPSReliableReaderQos& qos) {
  return qos.disable_positive_acks.enabled;
}

inline void deliver_within_the_process(bool allowed) {
  eprosima::fastdds::LibrarySettings library;
  library.intraprocess_delivery = allowed ? eprosima::fastdds::INTRAPROCESS_FULL : eprosima::fastdds::INTRAPROCESS_OFF;
  dds::DomainParticipantFactory::get_instance()->set_library_settings(library);
}

#endif

using Payload = renamed::SerializedPayload_t;

/// TopicDataType of a plain, bounded type without a key. `Type` has encode(sample, payload), decode(payload, sample),
/// create(), destroy(sample) and construct(memory).
template <class Type>
class PlainType : public dds::TopicDataType {
 public:
#if MIDDLEMARK_FASTDDS_MAJOR == 2
  PlainType(const std::string& name, std::uint32_t serialized_bytes) : serialized_bytes_(serialized_bytes) {
    m_typeSize = serialized_bytes;
    setName(name.c_str());
    auto_fill_type_object(false);
    auto_fill_type_information(false);
  }

  bool serialize(void* sample, Payload* payload) override { return self().encode(sample, *payload); }
  bool deserialize(Payload* payload, void* sample) override { return self().decode(*payload, sample); }
  std::function<std::uint32_t()> getSerializedSizeProvider(void* /*sample*/) override {
    return [size = serialized_bytes_] { return size; };
  }
  void* createData() override { return self().create(); }
  void deleteData(void* sample) override { self().destroy(sample); }
  bool getKey(void* /*sample*/, renamed::InstanceHandle_t* /*key*/, bool /*md5*/) override { return false; }
  bool is_plain() const override { return true; }

  // Not marked as overriding: those with a representation came in 2.12, with Fast CDR 2, and since then they are called.
  virtual bool serialize(void* sample, Payload* payload, dds::DataRepresentationId_t /*representation*/) {
    return self().encode(sample, *payload);
  }
  virtual std::function<std::uint32_t()> getSerializedSizeProvider(void* /*sample*/,
                                                                   dds::DataRepresentationId_t /*representation*/) {
    return [size = serialized_bytes_] { return size; };
  }
  virtual bool is_plain(dds::DataRepresentationId_t /*representation*/) const { return true; }
#else
  PlainType(const std::string& name, std::uint32_t serialized_bytes) : serialized_bytes_(serialized_bytes) {
    max_serialized_type_size = serialized_bytes;
    set_name(name);
  }

  bool serialize(const void* sample, Payload& payload, dds::DataRepresentationId_t /*representation*/) override {
    return self().encode(sample, payload);
  }
  bool deserialize(Payload& payload, void* sample) override { return self().decode(payload, sample); }
  std::uint32_t calculate_serialized_size(const void* /*sample*/,
                                          dds::DataRepresentationId_t /*representation*/) override {
    return serialized_bytes_;
  }
  void* create_data() override { return self().create(); }
  void delete_data(void* sample) override { self().destroy(sample); }
  bool compute_key(Payload& /*payload*/, renamed::InstanceHandle_t& /*key*/, bool /*md5*/) override { return false; }
  bool compute_key(const void* /*sample*/, renamed::InstanceHandle_t& /*key*/, bool /*md5*/) override { return false; }
  bool is_plain(dds::DataRepresentationId_t /*representation*/) const override { return true; }
#endif

  bool is_bounded() const override { return true; }
  bool construct_sample(void* memory) const override {
    static_cast<const Type&>(*this).construct(memory);
    return true;
  }
  [[nodiscard]] std::uint32_t serialized_bytes() const { return serialized_bytes_; }

 private:
  [[nodiscard]] Type& self() { return static_cast<Type&>(*this); }

  std::uint32_t serialized_bytes_;
};

}  // namespace middlemark::fastdds
