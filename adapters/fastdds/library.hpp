// Common names for everything that differs between versions 2 and 3 of Fast DDS (CMakeLists.txt sets the version), the
// type of the messages, and the log messages that explain failures.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>

#include <fastdds/dds/core/policy/QosPolicies.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/log/Log.hpp>
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
#include <fastdds/config.hpp>
#include <fastdds/dds/core/ReturnCode.hpp>
#include <fastdds/rtps/transport/TCPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.hpp>
#include <fastdds/utils/IPLocator.hpp>
#endif

#include <middlemark/kit/cdr.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::fastdds {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastdds::rtps;
using WriterTimes = decltype(dds::RTPSReliableWriterQos::times);
using ReaderTimes = decltype(dds::RTPSReliableReaderQos::times);

#if MIDDLEMARK_FASTDDS_MAJOR == 2

namespace renamed = eprosima::fastrtps::rtps;  ///< the namespace that version 3 calls eprosima::fastdds::rtps
using Duration = eprosima::fastrtps::Duration_t;
using ReturnCode = eprosima::fastrtps::types::ReturnCode_t;

#define MIDDLEMARK_FASTDDS_RTPS "8fastrtps4rtps"

/// The prefix of the file names of Fast DDS's shared-memory transport.
inline constexpr const char* shm_files = "fastrtps_";

inline constexpr auto heartbeat_period = &WriterTimes::heartbeatPeriod;
inline constexpr auto nack_response_delay = &WriterTimes::nackResponseDelay;
inline constexpr auto nack_suppression = &WriterTimes::nackSupressionDuration;
inline constexpr auto heartbeat_response_delay = &ReaderTimes::heartbeatResponseDelay;
inline constexpr auto disable_positive_acks = &dds::RTPSReliableReaderQos::disable_positive_ACKs;

[[nodiscard]] inline int number_of(const ReturnCode& code) { return static_cast<int>(code()); }

inline void deliver_within_the_process(bool allowed) {
  namespace fastrtps = eprosima::fastrtps;
  fastrtps::LibrarySettingsAttributes library;
  library.intraprocess_delivery = allowed ? fastrtps::INTRAPROCESS_FULL : fastrtps::INTRAPROCESS_OFF;
  fastrtps::xmlparser::XMLProfileManager::library_settings(library);
}

#else

#define MIDDLEMARK_FASTDDS_RTPS "7fastdds4rtps"

namespace renamed = rtps;
using Duration = dds::Duration_t;
using ReturnCode = dds::ReturnCode_t;

inline constexpr const char* shm_files = "fastdds_";

inline constexpr auto heartbeat_period = &WriterTimes::heartbeat_period;
inline constexpr auto nack_response_delay = &WriterTimes::nack_response_delay;
inline constexpr auto nack_suppression = &WriterTimes::nack_supression_duration;
inline constexpr auto heartbeat_response_delay = &ReaderTimes::heartbeat_response_delay;
inline constexpr auto disable_positive_acks = &dds::RTPSReliableReaderQos::disable_positive_acks;

[[nodiscard]] inline int number_of(ReturnCode code) { return static_cast<int>(code); }

inline void deliver_within_the_process(bool allowed) {
  eprosima::fastdds::LibrarySettings library;
  library.intraprocess_delivery = allowed ? eprosima::fastdds::INTRAPROCESS_FULL : eprosima::fastdds::INTRAPROCESS_OFF;
  dds::DomainParticipantFactory::get_instance()->set_library_settings(library);
}

#endif

[[nodiscard]] inline kit::LoadedLibrary loaded_library() {
  return kit::loaded_library(reinterpret_cast<const void*>(&dds::DomainParticipantFactory::get_instance));
}

/// True if the loaded library was built with DDS Security. No header shows this, and a library without DDS Security
/// ignores the security properties and sends plain text. The function that is looked up exists only in a library with
/// DDS Security.
[[nodiscard]] inline bool has_security() {
  return dlsym(RTLD_DEFAULT, "_ZN8eprosima" MIDDLEMARK_FASTDDS_RTPS
                             "15RTPSParticipant30is_security_enabled_for_writerERKNS1_16WriterAttributesE") != nullptr;
}

/// The type of a topic's messages. The size of the messages is known when the trial starts, so no code generator is
/// needed. Octets are a fixed array of bytes. This type is plain and bounded, as Fast DDS requires for loans and for
/// data-sharing. Messages are always taken as loans, so a plain type is not deserialised. A sample of a typed message
/// is a kit::CodedMessage, which is serialised field by field, as in the code that fastddsgen generates.
///
/// If the sizes of a topic vary, the type is a sequence of at most `bytes` bytes. A sample in memory has the same bytes
/// as in CDR: the length, followed by the bytes. This type is not plain.
class BytesType final : public dds::TopicDataType {
 public:
  using Payload = renamed::SerializedPayload_t;
  using Representation = dds::DataRepresentationId_t;
  using Length = std::uint32_t;

  BytesType(MessageType type, std::size_t bytes, bool varies, bool paired)
      : type_(type),
        bytes_(bytes + (varies ? sizeof(Length) : 0)),
        varies_(varies),
        serialized_(static_cast<std::uint32_t>(octets() ? bytes_ + sizeof header
                                                        : kit::coded_bytes<kit::CdrCoding>(type, bytes))) {
#if MIDDLEMARK_FASTDDS_MAJOR == 2
    m_typeSize = serialized_;
    setName(name_of(type, bytes, varies, paired).c_str());
    auto_fill_type_object(false);
    auto_fill_type_information(false);
#else
    max_serialized_type_size = serialized_;
    set_name(name_of(type, bytes, varies, paired));
#endif
  }

  /// Returns the type's name. It contains the size, so that readers and writers of different sizes never match. In a
  /// pair of two adapters it is the type name on which both agree.
  [[nodiscard]] static std::string name_of(MessageType type, std::size_t bytes, bool varies, bool paired) {
    if (paired) return "middlemark::Octets";
    const std::string kind = type != MessageType::octets ? std::string(word(type)) : varies ? "BytesUpTo" : "Bytes";
    return "middlemark::" + kind + std::to_string(bytes);
  }

#if MIDDLEMARK_FASTDDS_MAJOR == 2
  bool serialize(void* sample, Payload* payload) override { return encode(sample, *payload); }
  bool deserialize(Payload* payload, void* sample) override { return decode(*payload, sample); }
  std::function<std::uint32_t()> getSerializedSizeProvider(void* sample) override {
    return [size = static_cast<std::uint32_t>(length_of(sample) + sizeof header)] { return size; };
  }
  void* createData() override { return make(); }
  void deleteData(void* sample) override { unmake(sample); }
  bool getKey(void* /*sample*/, renamed::InstanceHandle_t* /*key*/, bool /*md5*/) override { return false; }
  bool is_plain() const override { return plain(); }

  // Not marked `override`: the base class has these overloads with a representation only since version 2.12 with Fast
  // CDR 2. Then it calls them instead of the others.
  virtual bool serialize(void* sample, Payload* payload, Representation /*as*/) { return encode(sample, *payload); }
  virtual std::function<std::uint32_t()> getSerializedSizeProvider(void* sample, Representation /*as*/) {
    return getSerializedSizeProvider(sample);
  }
  virtual bool is_plain(Representation /*as*/) const { return plain(); }
#else
  bool serialize(const void* sample, Payload& payload, Representation /*as*/) override {
    return encode(sample, payload);
  }
  bool deserialize(Payload& payload, void* sample) override { return decode(payload, sample); }
  std::uint32_t calculate_serialized_size(const void* sample, Representation /*as*/) override {
    return static_cast<std::uint32_t>(length_of(sample) + sizeof header);
  }
  void* create_data() override { return make(); }
  void delete_data(void* sample) override { unmake(sample); }
  bool compute_key(Payload& /*payload*/, renamed::InstanceHandle_t& /*key*/, bool /*md5*/) override { return false; }
  bool compute_key(const void* /*sample*/, renamed::InstanceHandle_t& /*key*/, bool /*md5*/) override { return false; }
  bool is_plain(Representation /*as*/) const override { return plain(); }
#endif

  bool is_bounded() const override { return true; }
  bool construct_sample(void* memory) const override {
    if (!plain()) return false;
    std::memset(memory, 0, bytes_);
    return !varies_;
  }

 private:
  static constexpr std::uint8_t header[Payload::representation_header_size] = {0, CDR_LE, 0,
                                                                               0};  ///< the CDR header of every sample

  [[nodiscard]] bool octets() const noexcept { return type_ == MessageType::octets; }
  [[nodiscard]] bool plain() const noexcept { return octets() && !varies_; }

  [[nodiscard]] void* make() const {
    if (octets()) return new std::byte[bytes_]{};
    return kit::make_coded<kit::CdrCoding>(type_, bytes_).release();
  }
  void unmake(void* sample) const {
    if (octets()) {
      delete[] static_cast<std::byte*>(sample);
    } else {
      delete static_cast<kit::CodedMessage*>(sample);
    }
  }

  /// Returns the length of a sample of octets in CDR, without the CDR header.
  [[nodiscard]] std::size_t length_of(const void* sample) const {
    if (!varies_) return serialized_ - sizeof header;
    Length length = 0;
    std::memcpy(&length, sample, sizeof length);
    return sizeof length + length;
  }

  [[nodiscard]] bool encode(const void* sample, Payload& payload) const {
    const std::size_t length = length_of(sample);
    const auto serialized = static_cast<std::uint32_t>(length + sizeof header);
    if (payload.max_size < serialized) return false;
    if (!octets()) {
      auto* const message = static_cast<kit::CodedMessage*>(const_cast<void*>(sample));
      payload.encapsulation = CDR_LE;
      payload.length =
          static_cast<std::uint32_t>(message->encode({reinterpret_cast<std::byte*>(payload.data), payload.max_size}));
      payload.pos = payload.length;
      return payload.length == serialized_;
    }
    std::memcpy(payload.data, header, sizeof header);
    payload.encapsulation = CDR_LE;
    std::memcpy(payload.data + sizeof header, sample, length);
    payload.length = serialized;
    payload.pos = serialized;
    return true;
  }

  /// Fills `sample` from a received payload. Returns true for a typed message even if it is damaged, so that the core
  /// counts it as damaged. If it returned false, Fast DDS would silently drop the message.
  [[nodiscard]] bool decode(const Payload& payload, void* sample) const {
    if (plain()) return false;
    if (!octets()) {
      static_cast<void>(static_cast<kit::CodedMessage*>(sample)->decode(
          {reinterpret_cast<const std::byte*>(payload.data), payload.length}));
      return true;
    }
    if (payload.length < sizeof header + sizeof(Length) || payload.length > serialized_) return false;
    const std::size_t length = length_of(payload.data + sizeof header);
    if (length > payload.length - sizeof header) return false;
    std::memcpy(sample, payload.data + sizeof header, length);
    return true;
  }

  MessageType type_;
  std::size_t bytes_;  ///< the largest size of a sample of octets in memory
  bool varies_;
  std::uint32_t serialized_;
};

// Return codes. Their values are equal in all versions.
inline constexpr int code_ok = 0;
inline constexpr int code_error = 1;
inline constexpr int code_timeout = 10;
inline constexpr int code_no_data = 11;

[[nodiscard]] inline bool succeeded(const ReturnCode& code) { return number_of(code) == code_ok; }

[[nodiscard]] inline std::string text_of(int code) {
  std::istringstream names(
      "OK ERROR UNSUPPORTED BAD_PARAMETER PRECONDITION_NOT_MET OUT_OF_RESOURCES NOT_ENABLED IMMUTABLE_POLICY "
      "INCONSISTENT_POLICY ALREADY_DELETED TIMEOUT NO_DATA ILLEGAL_OPERATION NOT_ALLOWED_BY_SECURITY");
  std::string name;
  for (int place = 0; names >> name; ++place) {
    if (place == code) return "RETCODE_" + name;
  }
  return "return code " + std::to_string(code);
}

using LastFailure = kit::LastFailure<&text_of>;

/// Collects the errors that Fast DDS logs, and the warnings about security. Equal messages are kept once. They contain
/// the reason of a failure; Fast DDS's calls do not return it.
class LoggedErrors final : public dds::LogConsumer {
 public:
  void Consume(const dds::Log::Entry& entry) override {
    const bool counts =
        entry.kind == dds::Log::Kind::Error || std::string_view(entry.context.category).starts_with("SECURITY");
    const std::lock_guard lock(mutex_);
    if (!counts || text_.size() >= 1000 || text_.find(entry.message) != text_.npos) return;
    text_ += (text_.empty() ? "" : "; ") + entry.message;
  }
  /// Returns the collected messages, separated by "; "; empty if there are none.
  [[nodiscard]] static std::string text() {
    dds::Log::Flush();
    const std::lock_guard lock(mutex_);
    return text_;
  }
  [[nodiscard]] static std::string reason() {
    const std::string logged = text();
    return logged.empty() ? "Fast DDS gave no reason" : logged;
  }

 private:
  static inline std::mutex mutex_;
  static inline std::string text_;
};

/// Returns `entity`. Throws an AdapterError if it is null, i.e. if Fast DDS could not create the entity. `what`: such
/// as "the writer of <topic>".
template <class Entity>
[[nodiscard]] Entity* created(Entity* entity, const std::string& what) {
  if (entity == nullptr) throw AdapterError("fastdds: cannot create " + what + ": " + LoggedErrors::reason());
  return entity;
}

}  // namespace middlemark::fastdds
