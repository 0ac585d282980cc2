// Wraps an adapter that is written in Python in a C++ adapter for the core. The roles, the clock and the records are in C++;
// only the calls of the middleware are in Python. middlemark_kit/__init__.py describes the contract for adapters;
// docs/decisions/0057 says why the roles are not Python. Hot file: in publish(), take() and wait() only Python
// allocates.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/memory.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/python/abi.hpp>

namespace middlemark::kit::python {

/// Owns a reference to a Python object, or nothing (null).
class Reference {
 public:
  Reference() noexcept = default;
  /// Takes over a reference that the caller owns.
  explicit Reference(PyObject* object) noexcept : object_(object) {}
  Reference(Reference&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Reference& operator=(Reference&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  ~Reference();
  [[nodiscard]] PyObject* get() const noexcept { return object_; }
  [[nodiscard]] PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Locks the interpreter (the GIL) for a scope. The thread may have locked it already. Each thread keeps its
/// PyThreadState until the thread ends, so that only the first use allocates.
class Holding {
 public:
  Holding() noexcept {
    if (depth_++ == 0) attached().resume();
  }
  ~Holding() {
    if (--depth_ == 0) attached().pause();
  }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  friend class Called;
  class Attached {
   public:
    Attached() noexcept : before_(PyGILState_Ensure()), state_(PyEval_SaveThread()) {}
    ~Attached() {
      PyEval_RestoreThread(state_);
      PyGILState_Release(before_);
    }
    void resume() noexcept { PyEval_RestoreThread(state_); }
    void pause() noexcept { state_ = PyEval_SaveThread(); }

   private:
    int before_;
    PyThreadState* state_;
  };
  static Attached& attached() noexcept {
    thread_local Attached its;
    return its;
  }
  static thread_local unsigned depth_;
};

inline Reference::~Reference() {
  if (object_ == nullptr) return;
  const Holding lock;
  Py_DecRef(object_);
}

/// Marks the scope of a function that Python has called. This thread has then locked the interpreter already.
class Called {
 public:
  Called() noexcept { ++Holding::depth_; }
  ~Called() { --Holding::depth_; }
  Called(const Called&) = delete;
  Called& operator=(const Called&) = delete;
};

/// Returns the text of the first exception that ended a thread of the middleware; empty if there was none.
[[nodiscard]] std::string thread_failure();

/// A Python function that passes its argument to a listener of the core. The argument is any object with a buffer.
class Visitor : Pinned {
 public:
  Visitor();
  /// Returns the tuple of arguments for take() and listen(), which contains the function.
  [[nodiscard]] PyObject* arguments() const noexcept { return arguments_.get(); }

  Listener listener;
  std::size_t visits = 0;

 private:
  static PyObject* call(PyObject* self, PyObject* message) noexcept;
  static PyMethodDef method_;
  Reference arguments_;
};

/// A Python object of the adapter that sends, receives or does both, with the text of its last exception.
class End : Pinned {
 public:
  [[nodiscard]] std::string last_error() const { return failure_.empty() ? thread_failure() : failure_; }

 protected:
  explicit End(Reference object) noexcept : object_(std::move(object)) {}
  ~End() = default;
  [[nodiscard]] PyObject* object() const noexcept { return object_.get(); }
  /// Calls the object's close(), if there is one.
  void close() noexcept;
  /// Calls a method of the object that returns a number. Throws AdapterError.
  [[nodiscard]] std::size_t count(const char* method);
  [[nodiscard]] Reference method(const char* name) const;
  /// Keeps the current exception's text, and prints the first one. Returns whether it was a TimeoutError.
  bool note_failure() noexcept;

 private:
  Reference object_;
  std::string failure_;
};

class Publisher : public End {
 public:
  Publisher(Reference object, std::size_t message_bytes, bool loans);
  ~Publisher();

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept;
  [[nodiscard]] Published publish() noexcept;
  [[nodiscard]] std::size_t matched() { return count("matched"); }

 private:
  [[nodiscard]] std::span<std::byte> lent(std::size_t bytes) noexcept;

  Memory memory_;
  Reference publish_;
  Reference loan_;       // null: the message is written into memory_
  Reference arguments_;  // the memoryview of the message
  std::size_t bytes_ = 0;
  Py_buffer lent_{};
  bool holds_ = false;  // true: lent_ is the view of a borrowed buffer
};

class Subscriber : public End {
 public:
  static inline std::chrono::milliseconds resends_within{};  ///< of the adapter's class; set before the first trial

  Subscriber(Reference object, std::size_t publishers);
  ~Subscriber();

  template <class Each>
  std::size_t take(Each& visitor) noexcept {
    visitor_.listener = Listener(visitor);
    return take();
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept;
  void listen(Listener listener);
  void silence();
  [[nodiscard]] std::size_t publishers_found();

 private:
  std::size_t take() noexcept;

  const std::size_t publishers_;
  Visitor visitor_;
  Reference take_;
  Reference wait_;
  bool counts_;
  bool listening_ = false;
};

/// A client or a server: one Python object that sends and receives. Both base classes call its close().
class Exchange : public Publisher, public Subscriber {
 public:
  Exchange(Reference object, std::size_t message_bytes, bool loans);
  [[nodiscard]] std::string last_error() const {
    const std::string sending = Publisher::last_error();
    return sending.empty() ? Subscriber::last_error() : sending;
  }
};

class Adapter {
 public:
  explicit Adapter(const Settings& settings);
  ~Adapter();
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  [[nodiscard]] static Description describe();
  static void check(const Settings& settings);
  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings);

  [[nodiscard]] Publisher publisher(const Topic& topic, unsigned index) {
    return {made("publisher", topic, index), topic.message_bytes, loans_};
  }
  [[nodiscard]] Subscriber subscriber(const Topic& topic, unsigned index) {
    return {made("subscriber", topic, index), topic.publishers};
  }
  [[nodiscard]] std::vector<std::string> notes() const;
  [[nodiscard]] std::string protected_by() const;
  [[nodiscard]] OwnSettings own_settings() const;
  [[nodiscard]] SharedSegment shared_segment() const;
  [[nodiscard]] std::string refusals() const;

 protected:
  [[nodiscard]] Reference made(const char* what, const Topic& topic, unsigned index);
  const bool loans_;

 private:
  Reference object_;
};

/// An adapter whose middleware has its own request and reply.
class RequestReplyAdapter : public Adapter {
 public:
  using Adapter::Adapter;
  [[nodiscard]] Exchange client(const Topic& service, unsigned index) {
    return {made("client", service, index), service.message_bytes, loans_};
  }
  [[nodiscard]] Exchange server(const Topic& service, unsigned index) {
    return {made("server", service, index), service.message_bytes, loans_};
  }
};

static_assert(fulfils_contract<Adapter> && HasRequestReply<RequestReplyAdapter>);

}  // namespace middlemark::kit::python
