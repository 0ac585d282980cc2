// Publishers and subscribers. Each is a client of the database, with its own connection and two threads.
#pragma once

#include <MOOS/libMOOS/Comms/MOOSAsyncCommClient.h>
#include <MOOS/libMOOS/Comms/MOOSMsg.h>
#include <MOOS/libMOOS/Thirdparty/PocoBits/Event.h>
#include <MOOS/libMOOS/Utils/MOOSUtilityFunctions.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/take.hpp>

#include "database.hpp"
#include "options.hpp"

namespace middlemark::moos {

/// A client of the database. It derives from MOOS's client to use its protected members.
class Connection : kit::Pinned, protected ::MOOS::MOOSAsyncCommClient {
 protected:
  Connection(std::string name, const Database& database, const Options& options)
      : name_(std::move(name)), database_(database) {
    SetQuiet(true);
    SetSendBufferSizeInKB(options.buffer_kb);
    SetReceiveBufferSizeInKB(options.buffer_kb);
  }
  ~Connection() = default;

  void open() {
    constexpr unsigned longest_ms = 5000;
    if (Run(database_.host, database_.port, name_) && WaitUntilConnected(longest_ms)) return;
    throw AdapterError("moos: " + name_ + " could not connect to the MOOSDB at " + database_.text());
  }

  /// Ends the client's threads. Derived classes call it in their destructors, because the threads use their members.
  /// The reading thread checks for the end only when it has received something, or once a second. So close() sends the
  /// database a request, whose answer wakes the thread.
  void close() noexcept {
    ReadingThread_.RequestQuit();
    CMOOSMsg request(MOOS_SERVER_REQUEST, any_request, "");
    Post(request);
    Close();
  }

  static constexpr const char* any_request = "VAR_SUMMARY";

  const std::string name_;

 private:
  const Database database_;
};

[[nodiscard]] inline const char* not_connected(int /*code*/) noexcept { return "not connected to the MOOSDB"; }

class Publisher : public Connection {
 public:
  Publisher(const Database& database, const Options& options, const Settings& settings, const Topic& topic,
            unsigned index)
      : Connection(topic.name + ".p" + std::to_string(index), database, options),
        message_(MOOS_NOTIFY, topic.name, std::string(topic.message_bytes, '\0')),
        window_(outbox(topic.message_bytes)),
        best_effort_(topic.reliability == Reliability::best_effort),
        write_timeout_(settings.write_timeout),
        attendance_(settings, topic) {
    message_.MarkAsBinary();
    open();
  }
  ~Publisher() { close(); }

  /// Returns the content of `message_`. Post() copies `message_`.
  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    message_.m_sVal.resize(bytes);  // does not allocate: never larger than at construction
    return std::as_writable_bytes(std::span(message_.m_sVal));
  }

  [[nodiscard]] Published publish() noexcept {
    const auto has_space = [this] { return OutGoingQueue_.Size() < window_ || !IsConnected(); };
    if (!has_space()) {
      if (best_effort_) return Published::ok;
      if (!kit::wait_until(has_space, write_timeout_)) return Published::timed_out;
    }
    message_.m_dfTime = MOOSTime();  // as Notify() does; Post() does not
    if (Post(message_)) return Published::ok;
    failure_.note("Post", 0);
    return Published::failed;
  }

  [[nodiscard]] std::size_t matched() { return attendance_.count(); }
  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  CMOOSMsg message_;
  const unsigned window_;
  const bool best_effort_;
  const std::chrono::nanoseconds write_timeout_;
  kit::Attendance attendance_;
  kit::LastFailure<&not_connected> failure_;
};

class Subscriber : public Connection {
 public:
  static constexpr std::size_t most_per_take = 256;

  Subscriber(const Database& database, const Options& options, const Settings& settings, const Topic& topic,
             unsigned index)
      : Connection(topic.name + ".s" + std::to_string(index), database, options), topic_(topic.name) {
    m_nInPendingLimit = inbox(topic, m_nInPendingLimit);
    // Wait for messages as MOOS's CMOOSApp does.
    SetOnMailCallBack(
        [](void* self) {
          static_cast<Subscriber*>(self)->mail_.set();
          return true;
        },
        this);
    open();
    // MOOS does not report that a registration is complete. The database handles a client's messages in order, so the
    // registration is complete when the database has answered a later request.
    MOOSMSG_LIST answer;
    constexpr double longest_s = 5;
    if (!Register(topic_, 0) || !ServerRequest(any_request, answer, longest_s, false)) {
      throw AdapterError("moos: " + name_ + ": the MOOSDB did not answer within 5 s");
    }
    kit::Attendance(settings, topic).attend(index);
  }
  ~Subscriber() {
    silence();
    close();
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    if (fetched_.empty()) Fetch(fetched_);
    return kit::take_up_to<most_per_take>([this]() noexcept { return !fetched_.empty(); },
                                          [&](bool) noexcept {
                                            visitor(content_of(fetched_.front()));
                                            fetched_.pop_front();
                                          });
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    if (!fetched_.empty() || GetNumberOfUnreadMessages() > 0) return true;
    return mail_.tryWait(std::chrono::ceil<std::chrono::milliseconds>(timeout).count());
  }

  /// Delivers messages through an active queue of the client. The queue's thread calls `listener`. Messages that
  /// arrived before this call are delivered first.
  void listen(Listener listener) {
    receiver_ = listener;
    AddActiveQueue(
        topic_,
        [](CMOOSMsg& message, void* self) {
          static_cast<Subscriber*>(self)->receiver_(content_of(message));
          return true;
        },
        this);
    Fetch(fetched_);
    for (const CMOOSMsg& early : fetched_) ActiveQueueMap_.at(topic_)->Push(early);
    fetched_.clear();
    AddMessageRouteToActiveQueue(topic_, topic_);
  }
  void silence() {
    if (receiver_) RemoveActiveQueue(topic_);
    receiver_ = {};
  }

 private:
  [[nodiscard]] static std::span<const std::byte> content_of(const CMOOSMsg& message) noexcept {
    return std::as_bytes(std::span(message.GetString()));
  }

  const std::string topic_;
  ::MOOS::Poco::Event mail_;
  MOOSMSG_LIST fetched_;
  Listener receiver_;
};

}  // namespace middlemark::moos
