// Declarations of OpenRTM-aist 2.1 and omniORB, without implementations. Where OpenRTM is not installed, the checks compile
// the adapter against them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace coil {
class Properties {
 public:
  std::string& operator[](const std::string& key);
  Properties& getNode(const std::string& key);
};
template <class Base, class Concrete>
Base* Creator() {
  return new Concrete();
}
template <class Base, class Concrete>
void Destructor(Base*& object) {
  delete dynamic_cast<Concrete*>(object);
}
enum class FactoryReturn : std::uint8_t { OK };
template <class Base>
struct GlobalFactory {
  static GlobalFactory& instance();
  FactoryReturn addFactory(const std::string& id, Base* (*creator)(), void (*destructor)(Base*&));
  FactoryReturn removeFactory(const std::string& id);
};
}  // namespace coil

namespace omniORB {
void setClientCallTimeout(unsigned int milliseconds);
}

namespace CORBA {
using ULong = unsigned int;
using Octet = unsigned char;
template <class T>
struct Var {
  Var(T* pointer);
  ~Var();
  T* operator->() const;
  operator T*() const;
};
struct Exception {
  virtual ~Exception() = default;
  virtual const char* _name() const = 0;
};
struct Object {};
using Object_var = Var<Object>;
struct String_var {
  String_var(char* text);
  const char* in() const;
};
struct ORB {
  Object* string_to_object(const char* reference);
  char* object_to_string(Object* object);
};
}  // namespace CORBA

namespace RTC {

struct OctetSeq {
  CORBA::ULong length() const;
  void length(CORBA::ULong);
  CORBA::Octet* get_buffer();
};
struct TimedOctetSeq {
  struct {
    CORBA::ULong sec;
    CORBA::ULong nsec;
  } tm;
  OctetSeq data;
};

enum ReturnCode_t { RTC_OK, RTC_ERROR };
struct PortService : CORBA::Object {
  static PortService* _narrow(CORBA::Object* object);
};
using PortService_var = CORBA::Var<PortService>;

enum class DataPortStatus : std::uint8_t {
  PORT_OK,
  BUFFER_FULL = 3,
  BUFFER_TIMEOUT = 5,
  SEND_FULL,
  CONNECTION_LOST = 12,
  UNKNOWN_ERROR
};
const char* toString(DataPortStatus status);

class ByteData {};
enum class BufferStatus : std::uint8_t { OK, FULL = 2 };
const char* toString(BufferStatus status);
template <class T>
struct BufferBase {
  virtual ~BufferBase() = default;
  virtual BufferStatus write(const T& value, std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1)) = 0;
};
template <class T>
struct RingBuffer : BufferBase<T> {
  BufferStatus write(const T& value, std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1)) override;
};
using CdrBufferBase = BufferBase<ByteData>;
using CdrBufferFactory = coil::GlobalFactory<CdrBufferBase>;
using CdrRingBuffer = RingBuffer<ByteData>;

struct InPortConsumer {
  virtual ~InPortConsumer() = default;
};
using InPortConsumerFactory = coil::GlobalFactory<InPortConsumer>;
class InPortSHMConsumer : public InPortConsumer {
 protected:
  std::string m_shm_address;
};

struct ConnectorInfo {};
enum class ConnectorDataListenerType : std::uint8_t { ON_BUFFER_WRITE };
struct ConnectorDataListener {
  enum Enum { NO_CHANGE };
  using ReturnCode = Enum;
  virtual ~ConnectorDataListener() = default;
  virtual ReturnCode operator()(ConnectorInfo& info, ByteData& data, const std::string& marshaling_type) = 0;
};
template <class T>
struct ConnectorDataListenerT : ConnectorDataListener {
  using ConnectorDataListener::NO_CHANGE;
  using ConnectorDataListener::ReturnCode;
  ReturnCode operator()(ConnectorInfo& info, ByteData& data, const std::string& marshaling_type) override;
  virtual ReturnCode operator()(ConnectorInfo& info, T& data) = 0;
};

struct OutPortConnector {
  template <class T>
  DataPortStatus write(T& data);
};

class PortBase {
 public:
  virtual ~PortBase() = default;
  PortService* getPortRef() const;
};
template <class T>
struct OutPort : PortBase {
  OutPort(const char* name, T& value);
  void init(coil::Properties& properties);
  const std::vector<OutPortConnector*>& connectors();
  bool write();
  DataPortStatus getStatus(int index);
};
template <class T>
struct InPort : PortBase {
  InPort(const char* name, T& value);
  void init(coil::Properties& properties);
  void addConnectorDataListener(ConnectorDataListenerType type, ConnectorDataListener* listener, bool autoclean = true);
  void removeConnectorDataListener(ConnectorDataListenerType type, ConnectorDataListener* listener);
  bool isNew();
  bool read(std::string name = "");
};

class Manager {
 public:
  static Manager* init(int argc, char** argv);
  static Manager& instance();
  static void terminate();
  void join();
  bool activateManager();
  void runManager(bool no_block = false);
  CORBA::ORB* getORB();
};

}  // namespace RTC

namespace CORBA_RTCUtil {
RTC::ReturnCode_t connect(const std::string& name, const coil::Properties& properties, RTC::PortService* port0,
                          RTC::PortService* port1);
}
