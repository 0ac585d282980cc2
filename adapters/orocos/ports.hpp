// Publishers and subscribers. Each is a component with ports. Hot file: while the roles run, our code here does not allocate,
// lock, log or throw.
#pragma once

#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/memory.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/kit/take.hpp>
#include <middlemark/kit/trial.hpp>

#include "octets.hpp"
#include "options.hpp"

namespace middlemark::orocos {

class Subscriber;

/// A subscriber's component. Its thread runs updateHook() when the port has a message.
struct Input : RTT::TaskContext, kit::Pinned {
  Input(const std::string& name, Subscriber& its_subscriber) : TaskContext(name), subscriber(its_subscriber) {
    ports()->addEventPort(port);
  }
  void updateHook() override;
  Subscriber& subscriber;  ///< valid while the component runs
  RTT::InputPort<Octets> port{"in"};
};

/// A lock between processes. A process locks it while it connects or disconnects, because RTT fails if two processes
/// connect to a third at once.
class Turn : kit::Pinned {
 public:
  explicit Turn(const Settings& settings)
      : file_(open((settings.scratch + "/turn").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    flock(file_.get(), LOCK_EX);
  }

 private:
  const kit::Descriptor file_;
};

struct Trial : kit::Trial<Options> {
  using kit::Trial<Options>::Trial;

  /// Waits until the publishers of other processes have disconnected, because RTT hangs when two processes disconnect from
  /// each other at once. A publisher that is still connected after one second was probably killed; then this process
  /// disconnects.
  void close() {
    for (const auto& [note, input] : inputs)
      if (remote && !kit::wait_until([&] { return !input->port.connected(); }, std::chrono::seconds(1)))
        input->port.disconnect();
    const Turn turn(settings);  // waits until the last publisher's call to disconnect has returned
    for (const auto& [note, input] : inputs)
      if (remote) RTT::corba::TaskContextServer::CleanupServer(input.get());
    inputs.clear();
  }

  const bool remote = !settings.one_process;               ///< other processes connect over CORBA
  std::map<std::string, std::unique_ptr<Input>> inputs{};  ///< the inputs of this process, by kit::subscriber_note()
};

class Publisher : public kit::OwnBuffer {
 public:
  /// Best effort uses one port for all subscribers. A reliable publisher has one port per subscriber, because it
  /// repeats a write that a subscriber refused. A shared port would repeat it to all subscribers.
  Publisher(Trial& trial, const Topic& topic, unsigned index)
      : OwnBuffer(topic.message_bytes),
        trial_(trial),
        topic_(topic),
        name_(topic.name + ".from." + std::to_string(index)),
        reliable_(Options::reliable(topic)),
        component_(name_),
        written_(reliable_ ? topic.subscribers : 0) {
    sample_.bytes.resize(topic.message_bytes);
    for (unsigned i = 0; i < (reliable_ ? topic.subscribers : 1); ++i) {
      ports_.push_back(
          std::make_unique<RTT::OutputPort<Octets>>("out" + std::to_string(i), trial.options.keeps_last()));
      component_.ports()->addPort(*ports_.back());
      ports_.back()->setDataSample(sample_);  // RTT reserves memory for this size
    }
  }

  ~Publisher() {
    const Turn turn(trial_.settings);
    for (const auto& port : ports_) port->disconnect();
  }

  [[nodiscard]] Published publish() noexcept {
    try {
      sample_.assign(message_);
      if (!reliable_) return outcome(ports_.front()->write(sample_));
      return publish_to_each();
    } catch (const std::exception&) {
      failed_ = "OutputPort::write() threw";
    } catch (...) {  // CORBA's exceptions do not derive from std::exception
      failed_ = "OutputPort::write(): a CORBA exception";
    }
    return Published::failed;
  }

  [[nodiscard]] std::size_t matched() {
    while (found_ < topic_.subscribers && connect()) ++found_;
    return found_;
  }
  [[nodiscard]] std::string last_error() const { return failed_; }

 private:
  /// Writes to each port until every subscriber's buffer has accepted the message.
  [[nodiscard]] Published publish_to_each() noexcept {
    std::fill(written_.begin(), written_.end(), false);
    bool gone = false;
    const bool done = kit::wait_until([&] { return write_to_each(gone); }, trial_.settings.write_timeout);
    if (gone) return outcome(RTT::NotConnected);
    return done ? Published::ok : Published::timed_out;
  }
  /// Writes once to each port that has not accepted the message. Returns true if all have accepted the message, or if a
  /// port is not connected; then `gone` is true.
  [[nodiscard]] bool write_to_each(bool& gone) {
    bool all = true;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (written_[i]) continue;
      const RTT::WriteStatus status = ports_[i]->write(sample_);
      written_[i] = status == RTT::WriteSuccess;
      gone = gone || status == RTT::NotConnected;
      all = all && written_[i];
    }
    return all || gone;
  }
  /// Converts the status of a best-effort write. A message for which a buffer has no room is dropped without an error.
  [[nodiscard]] Published outcome(RTT::WriteStatus status) noexcept {
    if (status != RTT::NotConnected) return Published::ok;
    failed_ = "OutputPort::write(): NotConnected";
    return Published::failed;
  }

  /// Connects to the next subscriber. Returns false if that subscriber does not exist yet.
  [[nodiscard]] bool connect() {
    const std::string note = kit::subscriber_note(topic_.name, found_);
    RTT::ConnPolicy policy = trial_.options.policy(topic_);
    if (policy.transport != 0) policy.name_id = '/' + name_ + ".to." + std::to_string(found_);
    RTT::OutputPort<Octets>& output = *ports_[reliable_ ? found_ : 0];
    const Turn turn(trial_.settings);
    RTT::base::PortInterface* input = nullptr;
    if (const auto here = trial_.inputs.find(note); here != trial_.inputs.end()) {
      input = &here->second->port;
    } else {
      const auto reference = trial_.notes.find(note);
      if (!reference) return false;
      proxies_.emplace_back(RTT::corba::TaskContextProxy::Create(*reference, true));
      if (proxies_.back()) input = proxies_.back()->ports()->getPort("in");
    }
    if (input == nullptr || !output.connectTo(input, policy))
      throw AdapterError("orocos: " + name_ + ": the connection to subscriber " + std::to_string(found_) + " failed");
    if (policy.transport != 0) mq_unlink(policy.name_id.c_str());  // both sides have opened the queue
    trial_.notes.leave(note + ".knows." + name_);
    return true;
  }

  Trial& trial_;
  const Topic topic_;
  const std::string name_;
  const bool reliable_;
  unsigned found_ = 0;
  const char* failed_ = "";
  Octets sample_;
  RTT::TaskContext component_;
  std::vector<std::unique_ptr<RTT::corba::TaskContextProxy>> proxies_;  // destroyed after ports_, before component_
  std::vector<bool> written_;
  std::vector<std::unique_ptr<RTT::OutputPort<Octets>>> ports_;
};

/// A subscriber. RTT has no call that waits for a message, so `block` is not offered and wait() only sleeps.
class Subscriber : kit::Pinned {
 public:
  static constexpr std::size_t most_per_take = 64;

  Subscriber(Trial& trial, const Topic& topic, unsigned index)
      : trial_(trial),
        topic_(topic),
        note_(kit::subscriber_note(topic.name, index)),
        input_(*(trial.inputs[note_] = std::make_unique<Input>(note_, *this))) {
    sample_.bytes.reserve(topic.message_bytes);
    if (!trial.remote) return;
    // Create() also writes the component's reference to the file in its second argument.
    if (RTT::corba::TaskContextServer::Create(&input_, trial.settings.scratch + '/' + note_, false) == nullptr)
      throw AdapterError("orocos: TaskContextServer::Create() failed");
    trial.notes.leave(note_, RTT::corba::TaskContextServer::getIOR(&input_));
  }
  ~Subscriber() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return kit::take_up_to<most_per_take>([this]() noexcept { return read(); },
                                          [&](bool) noexcept { visitor(sample_.span()); });
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    kit::nap(timeout);
    return false;
  }
  void listen(Listener listener) {
    listener_ = listener;
    input_.start();  // also runs updateHook() once, so messages that have already arrived are delivered
  }
  void silence() { input_.stop(); }

  /// Runs on the component's thread. Returns after most_per_take messages, so that the component can be stopped.
  void hear() noexcept {
    if (take(listener_) == most_per_take) input_.trigger();
  }

  [[nodiscard]] std::size_t publishers_found() {
    while (found_ < topic_.publishers &&
           trial_.notes.find(note_ + ".knows." + topic_.name + ".from." + std::to_string(found_)))
      ++found_;
    return found_;
  }

 private:
  [[nodiscard]] bool read() noexcept {
    try {
      return input_.port.read(sample_, false) == RTT::NewData;
    } catch (...) {
      return false;
    }
  }

  Trial& trial_;
  const Topic topic_;
  const std::string note_;
  unsigned found_ = 0;
  Octets sample_;
  Listener listener_;
  Input& input_;
};

inline void Input::updateHook() { subscriber.hear(); }

}  // namespace middlemark::orocos
