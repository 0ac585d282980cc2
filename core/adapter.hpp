// The contract that an adapter fulfils, as concepts. kit/contract.hpp turns each missing requirement into a readable
// error of the compiler; kit/ contains code that adapters share. An adapter only moves bytes: the
// core keeps its timestamps, statistics, rates and sequence numbers to itself. docs/decisions/ says why these are
// templates and not virtual calls.
//
// Life of a worker: Adapter{settings} → publisher()/subscriber() for each topic → (start) → loan/publish/take/wait on
// the roles' threads → (stop) → subscribers and publishers destroyed → adapter destroyed. Calls before the start may
// throw AdapterError. Calls after the start are noexcept, do not allocate or log, and take no lock of ours.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark {

class CodingTimes;

enum class Published {
  ok,         ///< the middleware accepted the message
  timed_out,  ///< back-pressure lasted longer than Settings::write_timeout; none or only a part of the message was sent
  failed,     ///< the middleware refused the message; see last_error()
};

/// A non-owning callback for messages that arrive on the middleware's own thread. The object must exist until silence()
/// has returned. A default-constructed Listener is empty: it converts to false, and calling it does nothing.
class Listener {
 public:
  using Function = void (*)(void* object, std::span<const std::byte> message) noexcept;

  Listener() noexcept = default;
  template <class Object>
    requires(!std::same_as<std::remove_cv_t<Object>, Listener> &&
             std::is_nothrow_invocable_v<Object&, std::span<const std::byte>>)
  explicit Listener(Object& object) noexcept
      : object_(&object), function_([](void* self, std::span<const std::byte> message) noexcept {
          (*static_cast<Object*>(self))(message);
        }) {}

  void operator()(std::span<const std::byte> message) const noexcept { function_(object_, message); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  void* object_ = nullptr;
  Function function_ = [](void* /*object*/, std::span<const std::byte> /*message*/) noexcept {};
};

/// A placeholder for the roles' visitors in the concepts below.
struct AnyVisitor {
  void operator()(std::span<const std::byte> /*message*/) noexcept {}
};

/// Sends the messages of one topic. One thread at a time uses it: the role's own thread or, under `listen`, the
/// middleware's.
///
/// loan(bytes)  Returns memory of exactly `bytes` (Topic::message_bytes, or fewer if the sizes of the topic vary) to
///              write a message in: the middleware's own if Settings::loan is set, otherwise a buffer of the adapter.
///              The caller owns the memory until the next publish(); its content is undefined. Does not block. Returns
///              an empty span if the middleware has no memory to lend; the core then counts a failed publish. A second
///              call without a publish() returns the same memory. For a typed message (Topic::type is not octets) the
///              memory is the main array of the message; publish() serialises the whole message.
/// publish()    Sends the message in the memory of the last loan(). May block under back-pressure, at most for
///              Settings::write_timeout.
/// matched()    Returns the number of subscribers of this topic that this publisher has found so far. Called every few
///              ms before the start, until all are found.
template <class P>
concept Publisher = requires(P& publisher, std::size_t bytes) {
  { publisher.loan(bytes) } noexcept -> std::same_as<std::span<std::byte>>;
  { publisher.publish() } noexcept -> std::same_as<Published>;
  { publisher.matched() } -> std::convertible_to<std::size_t>;
};

/// Receives the messages of one topic. Used by one thread.
///
/// take(visitor) Visits messages that have arrived, in the middleware's order, and never blocks. It visits all messages
///                that had arrived when it was called, but at most as many as its bound allows (BoundsTake). After a
///                wait() it visits at least the messages that ended the wait(). The adapter owns the memory, which is
///                valid during the visit only. For a typed message the main array is visited. If the rest of the
///                message differs from what was sent, the visited array lacks its last byte, and the core counts the
///                message as damaged (kit/messages.hpp). The visitor may publish on another topic. Returns the number
///                of visits. Only messages are visited: no metadata, no disposals, no messages of this process's own
///                topics. wait(timeout) Blocks the way the middleware prefers (waitset, condition, futex, socket) until
///                a message may have arrived or `timeout` (> 0) has passed. Returns true if take() may find a message;
///                it need not find one. Must return at once if messages arrived before the call and have not been
///                taken.
template <class S>
concept Subscriber = requires(S& subscriber, AnyVisitor& visitor, std::chrono::nanoseconds timeout) {
  { subscriber.take(visitor) } noexcept -> std::convertible_to<std::size_t>;
  { subscriber.wait(timeout) } noexcept -> std::same_as<bool>;
};

/// Optional for subscribers; required if a transport lists "listen".
///
/// listen(l)  Calls `l` for each message on the middleware's own thread, never for two messages at a time, from now
///            until silence() returns. take() and wait() are not called meanwhile.
/// silence()  Stops the calls of the listener. After it returns, no call is running and none will follow.
template <class S>
concept Listens = Subscriber<S> && requires(S& subscriber, Listener listener) {
  subscriber.listen(listener);
  subscriber.silence();
};

/// Makes publishers and subscribers. An adapter opens the middleware for this process, once. Its `describe()` must not
/// open the middleware, because every `middlemark list` calls it. publisher(topic, index) and subscriber(topic, index)
/// are called on the main thread, before the start; `index` counts the publishers (subscribers) of that topic over all
/// processes, from 0. Both functions return by value, and the result is never moved. All publishers and subscribers of
/// a process exist before the first matched().
template <class A>
concept MakesEnds = requires(A& adapter, const Topic& topic, unsigned index) {
  requires Publisher<decltype(adapter.publisher(topic, index))>;
  requires Subscriber<decltype(adapter.subscriber(topic, index))>;
};
template <class A>
concept Adapter = MakesEnds<A> && std::constructible_from<A, const Settings&> && requires {
  { A::describe() } -> std::same_as<Description>;
};

template <MakesEnds A>
using PublisherOf = decltype(std::declval<A&>().publisher(std::declval<const Topic&>(), 0U));
template <MakesEnds A>
using SubscriberOf = decltype(std::declval<A&>().subscriber(std::declval<const Topic&>(), 0U));

/// Both directions of a request-reply exchange in one object: see HasRequestReply.
template <class E>
concept Exchange = Publisher<E> && Subscriber<E>;

/// Optional: the middleware's own request and reply. An adapter without them gets one topic for each direction, and the
/// result says so. In the argument `service`, Topic::publishers is the number of clients; there is one server. Clients
/// and servers are made like publishers and subscribers, on the main thread before the start. One thread uses them: the
/// role's own or, under `listen`, the middleware's. In a graph (Transport::services) each request and reply has its own
/// size, at most Topic::message_bytes, and `varies` is set.
///
/// client(service, index)  publish() sends a request; take(), wait() and listen() receive the replies to this client's
///                         requests. matched() returns the number of servers found (0 or 1). A client has one request
///                         in flight: publish() is called again after the reply was taken, or after the client gave up
///                         on it. A reply that arrives after the next publish() may be dropped. A wait() that times out
///                         does not end the request.
/// server(service, index)  take(), wait() and listen() receive requests. During the visit of a request, loan() and
///                         publish() answer this request, at most once; they are not called outside of visits.
///                         matched() returns the number of clients found.
template <class A>
concept HasRequestReply = Adapter<A> && requires(A& adapter, const Topic& service, unsigned index) {
  requires Exchange<decltype(adapter.client(service, index))>;
  requires Exchange<decltype(adapter.server(service, index))>;
};

/// Optional: returns the daemons that this trial needs. Called in a separate process before any worker starts. May
/// write configuration files into Settings::scratch and name them in Companion::environment. Required if a transport
/// sets `companions`, or lists another level of `via` than direct.
template <class A>
concept HasCompanions = requires(const Settings& settings) {
  { A::companions(settings) } -> std::same_as<std::vector<Companion>>;
};

/// Optional: runs a companion that the adapter brings itself, as `WORKER --companion FILE` in Companion::argv. companions()
/// has written FILE. Prints the line of Companion::ready_pattern when the companion is ready, and returns after SIGTERM.
/// Throws AdapterError.
template <class A>
concept HasOwnCompanion = requires(const std::string& file) {
  { A::run_companion(file) } -> std::same_as<void>;
};

/// Optional for publishers and subscribers: returns the middleware's own message about the last failure; empty if
/// nothing failed. Called once, after the end.
template <class T>
concept HasLastError = requires(const T& object) {
  { object.last_error() } -> std::convertible_to<std::string>;
};

/// Optional for subscribers: `static constexpr std::size_t most_per_take`, the number of messages after which take()
/// returns even if more keep arriving, so that the role can check for the stop. take() finishes a batch that it has
/// begun. The bound can influence what is measured, so the core writes it into the description. Without a bound, take()
/// visits the messages that had arrived when it was called.
template <class S>
concept BoundsTake = requires { typename std::integral_constant<std::size_t, S::most_per_take>; };

/// Optional for subscribers: `static constexpr std::chrono::milliseconds resends_within`, the longest time after which
/// the middleware sends a lost reliable message again. When a trial ends, the role waits for this time plus one second
/// after the last message that arrived. Without it the role waits one second.
template <class S>
concept ResendsWithin = requires {
  { S::resends_within } -> std::convertible_to<std::chrono::milliseconds>;
};

/// Optional for subscribers: returns the number of publishers of its topic that this subscriber has found so far. A
/// message to a subscriber that has not found the publisher yet may be lost, so a trial starts after both sides have
/// found each other. Called like Publisher's matched().
template <class S>
concept CountsPublishers = requires(S& subscriber) {
  { subscriber.publishers_found() } -> std::convertible_to<std::size_t>;
};

/// Optional for subscribers: returns the time at which the kernel received the message that was visited last, in ns of
/// CLOCK_REALTIME from SO_TIMESTAMPING; 0 if the kernel reported no time. Never returns a time that the adapter
/// measured itself. Called on the visiting thread, during the visit or before the next take() or wait(), for some or
/// all messages.
template <class S>
concept HasArrivalStamp = requires(const S& subscriber) {
  { subscriber.arrived_ns() } noexcept -> std::same_as<std::uint64_t>;
};

/// Optional for publishers and subscribers of typed messages that the kit or the adapter (de)serialises: returns the
/// object that contains the times which (de)serialising took (coding.hpp); null for octets. Publishers serialise in
/// publish(), subscribers deserialise before the visit. Called when the measuring begins and after the end.
template <class P>
concept ReportsSerializing = requires(P& publisher) {
  { publisher.serializing() } noexcept -> std::same_as<CodingTimes*>;
};
template <class S>
concept ReportsDeserializing = requires(S& subscriber) {
  { subscriber.deserializing() } noexcept -> std::same_as<CodingTimes*>;
};

/// Optional: throws an AdapterError for unsupported combinations of settings, such as two settings that exclude each
/// other. A transport's description and the table of native settings can only exclude single settings. A pure function
/// that opens nothing, because the launcher also calls it when it plans an experiment.
template <class A>
concept HasCheck = requires(const Settings& settings) {
  { A::check(settings) } -> std::same_as<void>;
};

/// Optional for adapters: returns the algorithms in force, as the middleware names them, such as "CURVE: Curve25519,
/// XSalsa20-Poly1305". Called once, after matching, in a trial with security. Required if a transport lists a level of
/// security. kit/credentials.hpp has the process's certificate and key. An adapter that cannot provide the requested
/// level throws, and never sends without it.
template <class A>
concept ReportsProtection = requires(const A& adapter) {
  { adapter.protected_by() } -> std::convertible_to<std::string>;
};

/// The shared-memory segment through which a process sends its messages.
struct SharedSegment {
  std::uint64_t bytes = 0;  ///< 0: unknown, or messages do not go through a segment of limited size
  std::string setting;      ///< the middleware's setting that makes it larger
};

/// Optional for adapters that send through a shared-memory segment: returns the segment. A message that does not fit
/// into it is sent more slowly or in another way, so the launcher warns about rows with such messages. Called once,
/// after matching.
template <class A>
concept HasSharedSegment = requires(const A& adapter) {
  { adapter.shared_segment() } -> std::same_as<SharedSegment>;
};

/// Optional for adapters: returns the middleware's messages about rejected peers or other faults; empty if there were
/// none. Called once if peers were not found in time. The text becomes part of the trial's error.
template <class A>
concept ReportsRefusals = requires(const A& adapter) {
  { adapter.refusals() } -> std::convertible_to<std::string>;
};

/// Optional for adapters: returns the settings of this process in the middleware's own form, for a user who wants to
/// copy them: a configuration file, or the lines of code that set them (kit/applied.hpp). The adapter makes the text
/// from the values that it passed to the middleware, not from a second list written by hand. The text contains no names
/// of topics, no addresses and no paths of the trial, and no keys. Called once, after matching. An empty text counts as
/// no report.
template <class A>
concept ReportsSettings = requires(const A& adapter) {
  { adapter.own_settings() } -> std::same_as<OwnSettings>;
};

/// Optional for adapters: returns notes for the user on how the settings were applied. Called once, after matching.
template <class A>
concept HasNotes = requires(const A& adapter) {
  { adapter.notes() } -> std::same_as<std::vector<std::string>>;
};

}  // namespace middlemark
