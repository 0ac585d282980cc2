#include <middlemark/kit/python/bridge.hpp>

#include <algorithm>
#include <cstdio>

#include <middlemark/json.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/worker.hpp>

namespace middlemark::kit::python {
namespace {

using Json = nlohmann::json;

constexpr int writable = 1;         // PyBUF_WRITABLE
constexpr int to_write = 0x200;     // PyBUF_WRITE
constexpr int one_argument = 0x08;  // METH_O

PyObject* caller = nullptr;  // the object that run() of middlemark_kit passes, through which C++ calls the adapter

Reference shared(PyObject* object) {
  Py_IncRef(object);
  return Reference(object);
}

Reference python_text(std::string_view text) {
  return Reference(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

std::string text_of(PyObject* text) {
  Py_ssize_t bytes = 0;
  const char* const characters = PyUnicode_AsUTF8AndSize(text, &bytes);
  if (characters != nullptr) return {characters, static_cast<std::size_t>(bytes)};
  PyErr_Clear();
  return "a text that is not valid UTF-8";
}

struct Failure {
  std::string text;
  std::string advice;
};

/// Returns and clears the current Python exception: its text and, for an AdapterError of the kit, its advice. The text
/// of any other exception begins with its type.
Failure failure() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const Reference held_type(type);
  const Reference held_value(value);
  const Reference held_traceback(traceback);
  Failure found;
  if (type == nullptr || value == nullptr) return found;
  const Reference said(PyObject_Str(value));
  found.text = said ? text_of(said.get()) : "";
  if (const Reference advice(PyObject_GetAttrString(value, "advice")); advice) {
    found.advice = text_of(advice.get());
    return found;
  }
  PyErr_Clear();
  const Reference name(PyObject_GetAttrString(type, "__name__"));
  if (name) found.text = text_of(name.get()) + (found.text.empty() ? "" : ": " + found.text);
  return found;
}

[[noreturn]] void refuse() {
  const Failure why = failure();
  throw AdapterError(why.text, why.advice);
}

template <class... Arguments>
Reference tuple(Arguments... arguments) {
  Reference all(PyTuple_New(sizeof...(arguments)));
  Py_ssize_t at = 0;
  (PyTuple_SetItem(all.get(), at++, arguments.release()), ...);
  return all;
}

/// Calls a method of the object. Throws an AdapterError if the method raises an exception.
template <class... Arguments>
Reference call(PyObject* object, const char* method, Arguments... arguments) {
  const Reference function(PyObject_GetAttrString(object, method));
  if (!function) refuse();
  Reference result(PyObject_Call(function.get(), tuple(std::move(arguments)...).get(), nullptr));
  if (!result) refuse();
  return result;
}

/// Calls a method that returns a text.
template <class... Arguments>
std::string words(PyObject* object, const char* method, Arguments... arguments) {
  const Holding lock;
  return text_of(call(object, method, std::move(arguments)...).get());
}

template <class Value>
Value read(const std::string& text) {
  return read_message<Value>(Json::parse(text));
}

Json json_of_topic(const Topic& topic) {
  return {{"name", topic.name},
          {"message_bytes", topic.message_bytes},
          {"publishers", topic.publishers},
          {"subscribers", topic.subscribers},
          {"depth", json_of(topic.depth)},
          {"reliability", word(topic.reliability)},
          {"type", word(topic.type)},
          {"service", topic.service},
          {"publishers_here", topic.publishers_here},
          {"subscribers_here", topic.subscribers_here},
          {"subscriber_processes", topic.subscriber_processes},
          {"varies", topic.varies},
          {"history", topic.history}};
}

/// Returns the trial's settings as JSON for the kit: the request, all topics, the interface's address, and the native
/// settings. Native settings that are booleans or numbers have these types in JSON.
std::string json_of_settings(const Settings& settings) {
  Json all = json_of(static_cast<const RequestedSettings&>(settings));
  all["endpoints"] = Json::array();
  for (const Topic& each : settings.endpoints) all["endpoints"].push_back(json_of_topic(each));
  try {
    all["ipv4"] = ipv4_text(settings.interface);
  } catch (const AdapterError&) {
    all["ipv4"] = "";
  }
  const NativeTable table = Adapter::describe().native;
  for (auto& [key, value] : all["native"].items()) {
    const NativeSetting* const setting = find_native(table, key);
    if (setting == nullptr || setting->type == NativeType::choice) continue;
    const auto number = native_number(*setting, value.get<std::string>());
    if (!number) continue;
    value = *number;
    if (setting->type == NativeType::boolean) value = *number != 0;
  }
  return all.dump();
}

}  // namespace

thread_local unsigned Holding::depth_ = 0;

std::string thread_failure() { return words(caller, "thread_failure"); }

// ---- visitors

PyMethodDef Visitor::method_{"visit", &Visitor::call, one_argument, nullptr};

Visitor::Visitor() {
  const Holding lock;
  const Reference self(PyLong_FromVoidPtr(this));
  arguments_ = tuple(Reference(PyCFunction_NewEx(&method_, self.get(), nullptr)));
}

PyObject* Visitor::call(PyObject* self, PyObject* message) noexcept {
  auto& visitor = *static_cast<Visitor*>(PyLong_AsVoidPtr(self));
  Py_buffer bytes;
  if (PyObject_GetBuffer(message, &bytes, 0) != 0) return nullptr;
  {
    const Called called;
    ++visitor.visits;
    visitor.listener({static_cast<const std::byte*>(bytes.buf), static_cast<std::size_t>(bytes.len)});
  }
  PyBuffer_Release(&bytes);
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

// ---- ends

void End::close() noexcept {
  const Holding lock;
  const Reference function(PyObject_GetAttrString(object(), "close"));
  if (function) const Reference closed(PyObject_Call(function.get(), tuple().get(), nullptr));
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
}

std::size_t End::count(const char* name) {
  const Holding lock;
  const std::size_t number = PyLong_AsSize_t(call(object(), name).get());
  if (PyErr_Occurred() != nullptr) refuse();
  return number;
}

Reference End::method(const char* name) const {
  Reference found(PyObject_GetAttrString(object(), name));
  if (!found) PyErr_Clear();
  return found;
}

bool End::note_failure() noexcept {
  const bool timed_out = PyErr_ExceptionMatches(PyExc_TimeoutError) != 0;
  const bool is_first = failure_.empty();
  failure_ = failure().text;
  // Print it now. The result also contains it, but the trial ends without the result if the peer waits in vain.
  if (is_first && !timed_out) std::fprintf(stderr, "%s\n", failure_.c_str());
  return timed_out;
}

Publisher::Publisher(Reference object, std::size_t message_bytes, bool loans)
    : End(std::move(object)), memory_(message_bytes) {
  const Holding lock;
  publish_ = method("publish");
  if (loans) loan_ = method("loan");
}

Publisher::~Publisher() {
  const Holding lock;
  if (holds_) PyBuffer_Release(&lent_);
  arguments_ = {};
  close();
}

std::span<std::byte> Publisher::loan(std::size_t bytes) noexcept {
  if (loan_) return lent(bytes);
  if (bytes != bytes_) {
    const Holding lock;
    char* const first = reinterpret_cast<char*>(memory_.data());
    arguments_ = tuple(Reference(PyMemoryView_FromMemory(first, static_cast<Py_ssize_t>(bytes), to_write)));
    bytes_ = bytes;
  }
  return memory_.span().first(bytes);
}

std::span<std::byte> Publisher::lent(std::size_t bytes) noexcept {
  const Holding lock;
  if (!holds_) {
    Reference memory(PyObject_Call(loan_.get(), tuple(Reference(PyLong_FromSize_t(bytes))).get(), nullptr));
    if (!memory || PyObject_GetBuffer(memory.get(), &lent_, writable) != 0) {
      note_failure();
      return {};
    }
    holds_ = true;
    arguments_ = tuple(std::move(memory));
  }
  return {static_cast<std::byte*>(lent_.buf), std::min(bytes, static_cast<std::size_t>(lent_.len))};
}

Published Publisher::publish() noexcept {
  const Holding lock;
  if (holds_) PyBuffer_Release(&lent_);
  holds_ = false;
  const Reference published(PyObject_Call(publish_.get(), arguments_.get(), nullptr));
  if (published) [[likely]]
    return Published::ok;
  return note_failure() ? Published::timed_out : Published::failed;
}

Subscriber::Subscriber(Reference object, std::size_t publishers) : End(std::move(object)), publishers_(publishers) {
  const Holding lock;
  take_ = method("take");
  wait_ = method("wait");
  counts_ = static_cast<bool>(method("publishers_found"));
}

Subscriber::~Subscriber() {
  const Holding lock;
  if (listening_) silence();
  close();
}

std::size_t Subscriber::take() noexcept {
  const Holding lock;
  visitor_.visits = 0;
  const Reference taken(PyObject_Call(take_.get(), visitor_.arguments(), nullptr));
  if (!taken) [[unlikely]]
    note_failure();
  return visitor_.visits;
}

bool Subscriber::wait(std::chrono::nanoseconds timeout) noexcept {
  const Holding lock;
  const double seconds = std::chrono::duration<double>(timeout).count();
  const Reference arguments = tuple(Reference(PyFloat_FromDouble(seconds)));
  const Reference found(PyObject_Call(wait_.get(), arguments.get(), nullptr));
  if (found) [[likely]]
    return PyObject_IsTrue(found.get()) == 1;
  note_failure();
  return false;
}

void Subscriber::listen(Listener listener) {
  const Holding lock;
  visitor_.listener = listener;
  const Reference function(PyObject_GetAttrString(object(), "listen"));
  const Reference begun(function ? PyObject_Call(function.get(), visitor_.arguments(), nullptr) : nullptr);
  if (!begun) refuse();
  listening_ = true;
}

void Subscriber::silence() {
  const Holding lock;
  listening_ = false;
  static_cast<void>(call(object(), "silence"));
}

std::size_t Subscriber::publishers_found() { return counts_ ? count("publishers_found") : publishers_; }

Exchange::Exchange(Reference object, std::size_t message_bytes, bool loans)
    : Publisher((Holding(), shared(object.get())), message_bytes, loans), Subscriber(std::move(object), 0) {}

// ---- the adapter

Adapter::Adapter(const Settings& settings) : loans_(settings.loan) {
  const Holding lock;
  object_ = call(caller, "open", python_text(json_of_settings(settings)));
}

Adapter::~Adapter() {
  const Holding lock;
  try {
    static_cast<void>(call(object_.get(), "close"));
  } catch (const AdapterError& /*error*/) {  // the results are sent, and the process ends
  }
}

Description Adapter::describe() {
  const std::string text = words(caller, "describe");
  return read<Description>(text);
}

void Adapter::check(const Settings& settings) {
  const Holding lock;
  static_cast<void>(call(caller, "check", python_text(json_of_settings(settings))));
}

std::vector<Companion> Adapter::companions(const Settings& settings) {
  const Holding lock;
  return read<std::vector<Companion>>(words(caller, "companions", python_text(json_of_settings(settings))));
}

Reference Adapter::made(const char* what, const Topic& topic, unsigned index) {
  const Holding lock;
  return call(object_.get(), what, python_text(json_of_topic(topic).dump()), Reference(PyLong_FromSize_t(index)));
}

std::vector<std::string> Adapter::notes() const {
  return read<std::vector<std::string>>(words(object_.get(), "notes"));
}

std::string Adapter::protected_by() const { return words(object_.get(), "protected_by"); }

OwnSettings Adapter::own_settings() const {
  const std::string text = words(object_.get(), "own_settings");
  return text.empty() ? OwnSettings{} : read<OwnSettings>(text);
}

SharedSegment Adapter::shared_segment() const {
  const Json segment = Json::parse(words(object_.get(), "shared_segment"));
  return {segment.at("bytes").get<std::uint64_t>(), segment.at("setting").get<std::string>()};
}

std::string Adapter::refusals() const { return words(object_.get(), "refusals"); }

}  // namespace middlemark::kit::python

/// Runs a worker; returns its exit code. Called by run() of middlemark_kit without the interpreter's lock. `adapter`: the
/// kit's object. `most_per_take`: see BoundsTake; 0: no bound. `resends_within_ms`: see ResendsWithin; 0: at once.
extern "C" int middlemark_python_worker(int argc, char** argv, PyObject* adapter, int listens, int request_reply,
                                        int protects, std::size_t most_per_take, int resends_within_ms) {
  using namespace middlemark;
  namespace python = kit::python;
  python::caller = adapter;
  python::Subscriber::resends_within = std::chrono::milliseconds(resends_within_ms);
  WorkerParts parts = request_reply != 0 ? parts_of<python::RequestReplyAdapter>() : parts_of<python::Adapter>();
  parts.listens = listens != 0;
  parts.protects = protects != 0;
  if (most_per_take != 0) parts.most_per_take = most_per_take;
  return worker_main(argc, argv, parts);
}
