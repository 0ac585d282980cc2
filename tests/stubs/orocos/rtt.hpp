// Declarations of OROCOS RTT 2.9 and omniORB, without implementations. Where RTT is not installed, the checks compile the
// adapter against them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#define ORO_CORBA_PROTOCOL_ID 1
#define ORO_MQUEUE_PROTOCOL_ID 2

int __os_init(int argc, char** argv);
void __os_exit();

namespace boost {
template <class T, class U>
std::shared_ptr<T> dynamic_pointer_cast(const std::shared_ptr<U>& from) {
  return std::dynamic_pointer_cast<T>(from);
}
}  // namespace boost

namespace CORBA {
using ULong = unsigned int;
using Octet = unsigned char;
struct Any {};
using Any_ptr = Any*;
struct OctetSeq {
  OctetSeq(ULong max, ULong length, Octet* buffer, bool release = false);
  ULong maximum() const;
  ULong length() const;
  const Octet* get_buffer() const;
};
void operator<<=(Any& any, const OctetSeq& octets);
void operator<<=(Any& any, OctetSeq* octets);
bool operator>>=(const Any& any, const OctetSeq*& octets);
}  // namespace CORBA

namespace RTT {

enum FlowStatus { NoData = 0, OldData = 1, NewData = 2 };
enum WriteStatus { WriteSuccess = 0, WriteFailure = 1, NotConnected = 2 };
enum BufferPolicy { UnspecifiedBufferPolicy, PerConnection, PerInputPort, PerOutputPort, Shared };

struct ConnPolicy {
  static const int UNBUFFERED = -1;
  static const int DATA = 0;
  static const int BUFFER = 1;
  static const int CIRCULAR_BUFFER = 2;
  static const int LOCKED = 1;
  static const int LOCK_FREE = 2;
  int type;
  int size;
  int lock_policy;
  bool init;
  bool pull;
  int buffer_policy;
  int max_threads;
  bool mandatory;
  int transport;
  mutable int data_size;
  mutable std::string name_id;
};

namespace base {
struct DataSourceBase {
  using shared_ptr = std::shared_ptr<DataSourceBase>;
  virtual ~DataSourceBase() = default;
};
struct PortInterface {
  virtual ~PortInterface() = default;
  virtual bool connectTo(PortInterface* other, const ConnPolicy& policy) = 0;
  virtual bool connected() const = 0;
  virtual void disconnect() = 0;
};
struct InputPortInterface : PortInterface {
  bool connectTo(PortInterface* other, const ConnPolicy& policy) override;
  bool connected() const override;
  void disconnect() override;
};
struct OutputPortInterface : PortInterface {
  bool connectTo(PortInterface* other, const ConnPolicy& policy) override;
  bool connected() const override;
  void disconnect() override;
};
}  // namespace base

namespace internal {
template <class T>
struct DataSource : base::DataSourceBase {
  virtual T get() const = 0;
  virtual const T& rvalue() const = 0;
};
template <class T>
struct AssignableDataSource : DataSource<T> {
  virtual T& set() = 0;
};
}  // namespace internal

template <class T>
struct InputPort : base::InputPortInterface {
  explicit InputPort(const std::string& name = "unnamed", const ConnPolicy& default_policy = ConnPolicy());
  FlowStatus read(T& sample, bool copy_old_data);
};
template <class T>
struct OutputPort : base::OutputPortInterface {
  explicit OutputPort(const std::string& name = "unnamed", bool keep_last_written_value = true);
  void setDataSample(const T& sample);
  WriteStatus write(const T& sample);
};

struct DataFlowInterface {
  base::PortInterface& addPort(base::PortInterface& port);
  base::InputPortInterface& addEventPort(base::InputPortInterface& port);
  base::PortInterface* getPort(const std::string& name) const;
};

struct TaskContext {
  explicit TaskContext(const std::string& name);
  virtual ~TaskContext() = default;
  virtual bool start();
  virtual bool stop();
  virtual bool isRunning() const;
  virtual bool trigger();
  virtual void updateHook();
  DataFlowInterface* ports();
  void
    requires();
};

namespace types {
struct TypeTransporter {
  virtual ~TypeTransporter() = default;
};
struct TypeMarshaller : TypeTransporter {
  virtual std::pair<const void*, int> fillBlob(base::DataSourceBase::shared_ptr source, void* blob, int size,
                                               void* cookie = nullptr) const = 0;
  virtual bool updateFromBlob(const void* blob, int size, base::DataSourceBase::shared_ptr target,
                              void* cookie = nullptr) const = 0;
  virtual unsigned int getSampleSize(base::DataSourceBase::shared_ptr sample, void* cookie = nullptr) const = 0;
};
struct TypeInfo {
  bool addProtocol(int protocol, TypeTransporter* transporter);
};
struct TypeInfoGenerator {
  virtual ~TypeInfoGenerator() = default;
};
template <class T, bool use_ostream = false>
struct TemplateTypeInfo : TypeInfoGenerator {
  explicit TemplateTypeInfo(std::string name);
};
struct TypeInfoRepository {
  bool addType(TypeInfoGenerator* generator);
  TypeInfo* type(const std::string& name) const;
};
std::shared_ptr<TypeInfoRepository> Types();
}  // namespace types

namespace corba {
template <class T>
struct AnyConversion;
/// Instantiates the conversion functions that a type needs, so that the compiler checks them.
template <class T>
struct CorbaTemplateProtocol : types::TypeTransporter {
  virtual CORBA::Any* createAny(const T& value) const { return AnyConversion<T>::createAny(value); }
  virtual bool updateAny(const T& value, CORBA::Any& any) const { return AnyConversion<T>::updateAny(value, any); }
  virtual bool updateFromAny(const CORBA::Any* any, T& value) const { return AnyConversion<T>::update(*any, value); }
};
struct TaskContextServer {
  static bool InitOrb(int argc, char* argv[], double timeout = 0);
  static void ThreadOrb();
  static void ShutdownOrb(bool wait_for_completion = true);
  static void DestroyOrb();
  static TaskContextServer* Create(TaskContext* tc, const std::string& alias, bool use_naming = true,
                                   bool require_name_service = false);
  static void CleanupServer(TaskContext* tc);
  static std::string getIOR(TaskContext* tc);
};
struct TaskContextProxy : TaskContext {
  static TaskContextProxy* Create(std::string name, bool is_ior = false);
};
}  // namespace corba

namespace mqueue {
template <class T>
struct MQTemplateProtocolBase : types::TypeMarshaller {};
}  // namespace mqueue

}  // namespace RTT
