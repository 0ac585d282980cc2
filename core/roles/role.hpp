// A role as the control thread sees it. The virtual calls are for that thread only: everything on the hot path is in the
// templates behind them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/configuration.hpp>
#include <middlemark/roles/ping.hpp>
#include <middlemark/roles/pong.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/roles/publisher.hpp>
#include <middlemark/roles/requests.hpp>
#include <middlemark/roles/subscriber.hpp>

namespace middlemark {

class Role {
 public:
  enum class Part { sends, answers, drains };

  Role(std::string its_kind, unsigned its_index, Part its_part, std::optional<int> its_cpu)
      : kind(std::move(its_kind)), index(its_index), part(its_part), cpu(its_cpu) {}
  virtual ~Role() = default;
  Role(const Role&) = delete;
  Role& operator=(const Role&) = delete;

  /// Peers found so far, and those there must be before the start: subscribers of what it publishes, and publishers of what it
  /// subscribes to.
  [[nodiscard]] virtual std::size_t matched() = 0;
  [[nodiscard]] virtual std::size_t expected() const = 0;
  [[nodiscard]] virtual Found publishers() = 0;
  /// The whole of the role, on the calling thread.
  virtual void run() = 0;
  /// Memory that holds its samples, and is none of the middleware's.
  [[nodiscard]] virtual std::size_t kept_bytes() const { return 0; }
  /// After run(): writes the samples. Throws std::system_error with the path.
  virtual void keep() const {}
  [[nodiscard]] virtual const RoleResult& result() const = 0;

  [[nodiscard]] bool sends() const noexcept { return part == Part::sends; }
  [[nodiscard]] std::string name() const { return kind == "ping" ? kind : kind + " " + std::to_string(index); }

  const std::string kind;  ///< ping, pong, publisher, subscriber, client or server
  const unsigned index;
  /// Those that send decide when the measuring is over. Then those that answer end at once, and those that only receive when
  /// all that was sent to them has come, or nothing comes any more.
  const Part part;
  const std::optional<int> cpu;
  Progress progress;
};

/// `<path without .npy>.histogram.npy`
[[nodiscard]] inline std::string histogram_path(const std::string& samples_path) {
  const std::size_t stem = samples_path.ends_with(".npy") ? samples_path.size() - 4 : samples_path.size();
  return samples_path.substr(0, stem) + ".histogram.npy";
}

template <class Caller>
class CallerRole final : public Role {
 public:
  template <class A>
  CallerRole(A& adapter, const Settings& settings, const PingRequest& request, const Clock& clock)
      : Role(request.client ? "client" : "ping", request.index, Part::sends, request.cpu),
        path_(request.samples_path),
        caller_(adapter, settings, request, clock, progress) {}
  std::size_t matched() override { return caller_.matched(); }
  std::size_t expected() const override { return caller_.expected(); }
  Found publishers() override { return caller_.publishers(); }
  void run() override { caller_.run(); }
  std::size_t kept_bytes() const override { return caller_.recorder().capacity() * sizeof(Sample); }
  void keep() const override { caller_.recorder().write_npy(path_); }
  const RoleResult& result() const override { return caller_.result(); }

 private:
  std::string path_;
  Caller caller_;
};

template <class Answerer>
class AnswererRole final : public Role {
 public:
  template <class A>
  AnswererRole(A& adapter, const Settings& settings, const PongRequest& request, const Clock& clock)
      : Role(request.serves ? "server" : "pong", request.index,
             request.serves || request.echoes ? Part::answers : Part::drains, request.cpu),
        path_(request.samples_path),
        answerer_(adapter, settings, request, clock, progress) {}
  std::size_t matched() override { return answerer_.matched(); }
  std::size_t expected() const override { return answerer_.expected(); }
  Found publishers() override { return answerer_.publishers(); }
  void run() override { answerer_.run(); }
  std::size_t kept_bytes() const override { return answerer_.recorder().capacity() * sizeof(Answer); }
  void keep() const override {
    if (!path_.empty()) answerer_.recorder().write_npy(path_);
  }
  const RoleResult& result() const override { return answerer_.result(); }

 private:
  std::string path_;
  Answerer answerer_;
};

/// Either end of a stream.
template <class End, class Request>
class StreamRole final : public Role {
 public:
  template <class A>
  StreamRole(const char* name_of_kind, Part its_part, A& adapter, const Settings& settings, const Request& request,
             const Clock& clock)
      : Role(name_of_kind, request.index, its_part, request.cpu),
        path_(request.samples_path),
        end_(adapter, settings, request, clock, progress) {}
  std::size_t matched() override { return end_.matched(); }
  std::size_t expected() const override { return end_.expected(); }
  Found publishers() override { return end_.publishers(); }
  void run() override { end_.run(); }
  std::size_t kept_bytes() const override {
    return end_.recorder().capacity() * sizeof(typename decltype(end_.recorder().samples())::value_type);
  }
  void keep() const override {
    end_.recorder().write_npy(path_);
    if (end_.histogram().count() > 0) end_.histogram().write_npy(histogram_path(path_));
  }
  const RoleResult& result() const override { return end_.result(); }

 private:
  std::string path_;
  End end_;
};

/// The roles of one worker, receivers first: a subscriber exists before the publisher that would send to it wherever one
/// process holds both.
template <Adapter A>
[[nodiscard]] std::vector<std::unique_ptr<Role>> make_roles(A& adapter, const Configuration& configuration,
                                                            const Clock& clock) {
  std::vector<std::unique_ptr<Role>> roles;
  const Settings& settings = configuration.settings;
  for (const PongRequest& request : configuration.pongs) {
    if (request.serves) {
      roles.push_back(std::make_unique<AnswererRole<Server<A>>>(adapter, settings, request, clock));
    } else {
      roles.push_back(std::make_unique<AnswererRole<Pong<A>>>(adapter, settings, request, clock));
    }
  }
  for (const SubscriberRequest& request : configuration.subscribers) {
    using Subscribing = StreamRole<StreamSubscriber<A>, SubscriberRequest>;
    roles.push_back(std::make_unique<Subscribing>("subscriber", Role::Part::drains, adapter, settings, request, clock));
  }
  for (const PingRequest& request : configuration.pings) {
    if (request.client) {
      roles.push_back(std::make_unique<CallerRole<Client<A>>>(adapter, settings, request, clock));
    } else {
      roles.push_back(std::make_unique<CallerRole<Ping<A>>>(adapter, settings, request, clock));
    }
  }
  for (const PublisherRequest& request : configuration.publishers) {
    using Publishing = StreamRole<StreamPublisher<A>, PublisherRequest>;
    roles.push_back(std::make_unique<Publishing>("publisher", Role::Part::sends, adapter, settings, request, clock));
  }
  return roles;
}

}  // namespace middlemark
