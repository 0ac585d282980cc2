// The interface of a role for the control thread. Only this thread makes the virtual calls; the hot path is in the
// templates that implement them.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/configuration.hpp>
#include <middlemark/roles/ping.hpp>
#include <middlemark/roles/pong.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/roles/publisher.hpp>
#include <middlemark/roles/service.hpp>
#include <middlemark/roles/subscriber.hpp>

namespace middlemark {

class Role {
 public:
  enum class Part { sends, answers, drains };

  Role(RoleKind its_kind, unsigned its_index, Part its_part, std::optional<int> its_cpu, unsigned its_topic = 0)
      : kind(its_kind), index(its_index), part(its_part), cpu(its_cpu), topic(its_topic) {}
  virtual ~Role() = default;
  Role(const Role&) = delete;
  Role& operator=(const Role&) = delete;

  /// Number of subscribers found so far for the topics on which the role publishes.
  [[nodiscard]] virtual std::size_t matched() = 0;
  /// Number of subscribers of these topics that must be found before the start.
  [[nodiscard]] virtual std::size_t expected() const = 0;
  /// The numbers of publishers found and expected, over the topics to which the role subscribes.
  [[nodiscard]] virtual Found publishers() = 0;
  /// Publishes the history of transient-local topics. Call before the start. Throws AdapterError.
  virtual void publish_history() {}
  /// Number of history messages that the role must receive if it joins late; 0 if it joins before the start.
  [[nodiscard]] virtual std::uint32_t history() const { return 0; }
  /// Opens the subscriber of a role that joins late. Throws AdapterError.
  virtual void join() {}
  /// True if run() begins as soon as the worker has opened, and start() only tells the role that the trial starts.
  [[nodiscard]] virtual bool runs_before_start() const noexcept { return false; }
  virtual void start() noexcept {}
  /// Begins a phase of a crowd.
  virtual void enter(const CrowdCommand& /*command*/) noexcept {}
  /// The number of peers that a participant of a crowd reports in the current phase.
  [[nodiscard]] virtual std::size_t peers() const { return 0; }
  virtual void run() = 0;
  /// Returns the bytes of memory that the role's samples use. They are not memory of the middleware.
  [[nodiscard]] virtual std::size_t kept_bytes() const { return 0; }
  /// Adds the latencies that the role recorded since the last call. A role that records none adds none.
  virtual void read_latencies(NewLatencies& /*latencies*/) const {}
  /// Returns whether read_latencies() adds any.
  [[nodiscard]] bool has_latencies() const noexcept {
    return kind == RoleKind::ping || kind == RoleKind::client || kind == RoleKind::subscriber;
  }
  /// Writes the samples after run(). Throws std::system_error with the path.
  virtual void keep() const {}
  [[nodiscard]] virtual AnyRoleResult result() const = 0;
  /// Returns the results of the publishers through which a forwarding subscriber sends. Call after the end.
  /// forwarded_messages() returns how many messages each has sent.
  [[nodiscard]] virtual std::vector<AnyRoleResult> forwarded() const { return {}; }
  [[nodiscard]] virtual std::vector<std::uint64_t> forwarded_messages() const { return {}; }
  [[nodiscard]] virtual std::optional<ErrorEvent> failure() const { return std::nullopt; }

  [[nodiscard]] bool sends() const noexcept { return part == Part::sends; }
  [[nodiscard]] std::string name() const {
    const std::string kind_name(word(kind));
    return kind == RoleKind::ping ? kind_name : kind_name + " " + std::to_string(index);
  }

  const RoleKind kind;
  const unsigned index;
  /// Determines how the role ends. The measurement is over when the roles that send have ended. Then roles that answer
  /// end at once. Roles that drain end when they have received all messages that were sent to them, or when no more
  /// arrive.
  const Part part;
  const std::optional<int> cpu;
  const unsigned topic;  ///< in a stream: index in Settings::topics
  Progress progress;
};

/// `<path without .npy>.histogram.npy`
[[nodiscard]] inline std::string histogram_path(const std::string& samples_path) {
  const std::size_t stem = samples_path.ends_with(".npy") ? samples_path.size() - 4 : samples_path.size();
  return samples_path.substr(0, stem) + ".histogram.npy";
}

/// Writes the samples, and the histogram of further samples if there are any. Throws std::system_error with the path.
template <class End>
void write_kept(const End& end, const std::string& path) {
  end.recorder().write_npy(path);
  if (end.histogram().count() > 0) end.histogram().write_npy(histogram_path(path));
}

template <class Caller>
class CallerRole final : public Role {
 public:
  template <class A>
  CallerRole(A& adapter, const Settings& settings, const typename Caller::Request& request, const Clock& clock)
      : Role(Caller::client ? RoleKind::client : RoleKind::ping, request.index, Part::sends, request.cpu),
        path_(request.samples_path),
        caller_(adapter, settings, request, clock, progress) {}
  std::size_t matched() override { return caller_.matched(); }
  std::size_t expected() const override { return caller_.expected(); }
  Found publishers() override { return caller_.publishers(); }
  void run() override { caller_.run(); }
  std::size_t kept_bytes() const override { return caller_.recorder().capacity() * sizeof(Sample); }
  void read_latencies(NewLatencies& latencies) const override { caller_.read_latencies(latencies); }
  void keep() const override { write_kept(caller_, path_); }
  AnyRoleResult result() const override { return caller_.result(); }
  std::optional<ErrorEvent> failure() const override { return caller_.failure(); }

 private:
  std::string path_;
  Caller caller_;
};

template <class Answerer>
class AnswererRole final : public Role {
 public:
  template <class A>
  AnswererRole(A& adapter, const Settings& settings, const typename Answerer::Request& request, const Clock& clock)
      : Role(Answerer::serves ? RoleKind::server : RoleKind::pong, request.index,
             Answerer::echoes(request) ? Part::answers : Part::drains, request.cpu),
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
  AnyRoleResult result() const override { return answerer_.result(); }

 private:
  std::string path_;
  Answerer answerer_;
};

template <class End, class Request>
class StreamRole final : public Role {
  static constexpr bool publishes = std::same_as<Request, PublisherRequest>;

 public:
  template <class A>
  StreamRole(A& adapter, const Settings& settings, const Request& request, const Clock& clock)
      : Role(publishes ? RoleKind::publisher : RoleKind::subscriber, request.index,
             publishes ? Part::sends : Part::drains, request.cpu, request.topic),
        path_(request.samples_path),
        end_(adapter, settings, request, clock, progress) {}
  std::size_t matched() override { return end_.matched(); }
  std::size_t expected() const override { return end_.expected(); }
  Found publishers() override { return end_.publishers(); }
  void publish_history() override { end_.publish_history(); }
  std::uint32_t history() const override {
    if constexpr (!publishes) return end_.history();
    return 0;
  }
  void join() override {
    if constexpr (!publishes) end_.join();
  }
  void run() override { end_.run(); }
  std::size_t kept_bytes() const override {
    return end_.recorder().capacity() * sizeof(typename decltype(end_.recorder().samples())::value_type);
  }
  void read_latencies(NewLatencies& latencies) const override {
    if constexpr (!publishes) end_.read_latencies(latencies);
  }
  void keep() const override {
    write_kept(end_, path_);
    if constexpr (!publishes) {
      for (const auto& forward : end_.forwards()) write_kept(*forward, forward->request().samples_path);
    }
  }
  AnyRoleResult result() const override { return end_.result(); }
  std::vector<AnyRoleResult> forwarded() const override {
    std::vector<AnyRoleResult> all;
    if constexpr (!publishes) {
      for (const auto& forward : end_.forwards()) all.emplace_back(forward->result());
    }
    return all;
  }
  std::vector<std::uint64_t> forwarded_messages() const override {
    std::vector<std::uint64_t> all;
    if constexpr (!publishes) {
      for (const auto& forward : end_.forwards()) all.push_back(forward->sent());
    }
    return all;
  }
  std::optional<ErrorEvent> failure() const override {
    if constexpr (publishes) return end_.failure();
    return std::nullopt;
  }

 private:
  std::string path_;
  End end_;
};

/// Selects the class of the role for a type of request.
template <Adapter A, class Request>
struct RoleOf;
template <Adapter A>
struct RoleOf<A, PingRequest> : std::type_identity<CallerRole<Ping<A>>> {};
template <Adapter A>
struct RoleOf<A, ClientRequest> : std::type_identity<CallerRole<Client<A>>> {};
template <Adapter A>
struct RoleOf<A, PongRequest> : std::type_identity<AnswererRole<Pong<A>>> {};
template <Adapter A>
struct RoleOf<A, ServerRequest> : std::type_identity<AnswererRole<Server<A>>> {};
template <Adapter A>
struct RoleOf<A, PublisherRequest> : std::type_identity<StreamRole<StreamPublisher<A>, PublisherRequest>> {};
template <Adapter A>
struct RoleOf<A, SubscriberRequest> : std::type_identity<StreamRole<StreamSubscriber<A>, SubscriberRequest>> {};

template <MakesEnds A, class Request>
[[nodiscard]] std::unique_ptr<Role> stream_role(A& adapter, const Settings& settings, const Request& request,
                                                const Clock& clock) {
  using End = std::conditional_t<std::same_as<Request, PublisherRequest>, StreamPublisher<A>, StreamSubscriber<A>>;
  return std::make_unique<StreamRole<End, Request>>(adapter, settings, request, clock);
}

/// Makes the roles of one worker, receivers first, so that a subscriber exists before a publisher sends to it.
template <Adapter A>
[[nodiscard]] std::vector<std::unique_ptr<Role>> make_roles(A& adapter, Services<A>& services,
                                                            const Configuration& configuration, const Clock& clock) {
  std::vector<std::unique_ptr<Role>> roles;
  const Settings& settings = configuration.settings;
  for (const bool senders : {false, true}) {
    const auto make = [&]<class Request>(const Request& request) {
      if constexpr (std::same_as<Request, ParticipantRequest>) {
        throw std::logic_error("participants are made by CrowdSession");
      } else {
        if (std::derived_from<Request, SenderRequest> != senders) return;
        if constexpr (HasRequestReply<A> && requires { request.kept; }) {
          const auto make_end = [&](auto& side) { roles.push_back(stream_role(side, settings, request, clock)); };
          if (const auto& requests = settings.topics[request.topic].replies_to) {
            return make_end(services.side(services.clients, adapter, settings, *requests));
          }
          if (replies_of(settings, request.topic)) {
            if (senders) return make_end(services.side(services.clients, adapter, settings, request.topic));
            return make_end(services.side(services.servers, adapter, settings, request.topic));
          }
        }
        using Made = typename RoleOf<A, Request>::type;
        roles.push_back(std::make_unique<Made>(adapter, settings, request, clock));
      }
    };
    for (const AnyRoleRequest& request : configuration.roles) std::visit(make, request);
  }
  return roles;
}

}  // namespace middlemark
