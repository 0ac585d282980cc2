// The type of the ports' messages, and its typekit: the functions with which RTT sends the type over CORBA and message
// queues.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "rtt.hpp"

namespace middlemark::orocos {

struct Octets {
  std::vector<unsigned char> bytes{};

  void assign(std::span<const std::byte> from) {
    const auto* const data = reinterpret_cast<const unsigned char*>(from.data());
    bytes.assign(data, data + from.size());
  }
  [[nodiscard]] std::span<const std::byte> span() const noexcept { return std::as_bytes(std::span(bytes)); }
};

}  // namespace middlemark::orocos

namespace RTT::corba {

/// Converts octets to and from a CORBA Any. The Any to send refers to the octets; received octets are copied out of it.
template <>
struct AnyConversion<middlemark::orocos::Octets> {
  using StdType = middlemark::orocos::Octets;
  using CorbaType = CORBA::OctetSeq;

  static bool update(const CORBA::Any& any, StdType& value) {
    const CorbaType* octets = nullptr;
    if (!(any >>= octets)) return false;
    value.bytes.assign(octets->get_buffer(), octets->get_buffer() + octets->length());
    return true;
  }
  /// Returns a copy of the octets, because RTT uses the Any longer than `value` exists. RTT calls this for a pull.
  static CORBA::Any_ptr createAny(const StdType& value) {
    auto* const any = new CORBA::Any;
    *any <<= lent(value);
    return any;
  }
  static bool updateAny(const StdType& value, CORBA::Any& any) {
    auto octets = lent(value);
    any <<= new CorbaType(octets.maximum(), octets.length(), const_cast<CORBA::Octet*>(octets.get_buffer()), false);
    return true;
  }

 private:
  static CorbaType lent(const StdType& value) {
    const auto length = static_cast<CORBA::ULong>(value.bytes.size());
    return {length, length, const_cast<CORBA::Octet*>(value.bytes.data()), false};
  }
};

}  // namespace RTT::corba

namespace middlemark::orocos {

/// The protocol over message queues: a message consists of the octets only.
class OverQueue : public RTT::mqueue::MQTemplateProtocolBase<Octets> {
 public:
  std::pair<const void*, int> fillBlob(RTT::base::DataSourceBase::shared_ptr source, void* /*blob*/, int size,
                                       void* /*cookie*/) const override {
    const auto value = boost::dynamic_pointer_cast<RTT::internal::DataSource<Octets>>(source);
    if (!value || value->rvalue().bytes.size() > static_cast<std::size_t>(size)) return {nullptr, 0};
    return {value->rvalue().bytes.data(), static_cast<int>(value->rvalue().bytes.size())};
  }
  bool updateFromBlob(const void* blob, int size, RTT::base::DataSourceBase::shared_ptr target,
                      void* /*cookie*/) const override {
    const auto value = boost::dynamic_pointer_cast<RTT::internal::AssignableDataSource<Octets>>(target);
    if (!value) return false;
    value->set().assign({static_cast<const std::byte*>(blob), static_cast<std::size_t>(size)});
    return true;
  }
  unsigned int getSampleSize(RTT::base::DataSourceBase::shared_ptr sample, void* /*cookie*/) const override {
    const auto value = boost::dynamic_pointer_cast<RTT::internal::DataSource<Octets>>(sample);
    return value ? static_cast<unsigned int>(value->get().bytes.size()) : 0;
  }
};

/// Registers the type; call once per process, before the first port exists.
inline void register_octets() {
  RTT::types::Types()->addType(new RTT::types::TemplateTypeInfo<Octets>("middlemark_octets"));
  RTT::types::TypeInfo* const type = RTT::types::Types()->type("middlemark_octets");
  type->addProtocol(ORO_CORBA_PROTOCOL_ID, new RTT::corba::CorbaTemplateProtocol<Octets>());
  type->addProtocol(ORO_MQUEUE_PROTOCOL_ID, new OverQueue());
}

}  // namespace middlemark::orocos
