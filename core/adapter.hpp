// The contract that an adapter fulfils, as concepts. kit/contract.hpp turns each missing requirement into a readable
// error of the compiler; kit/ contains code that adapters share. An adapter moves bytes: it sees no timestamp,
// statistic, rate or sequence number of the core. Templates instead of virtual calls: see docs/decisions/.
//
// Life of a worker: Adapter{settings} → publisher()/subscriber() for each topic → (start) → loan/publish/take/wait on
// the roles' threads → (stop) → subscribers and publishers destroyed → adapter destroyed. Everything before the start
// may throw AdapterError. Everything after it is noexcept, does not allocate or log, and takes no lock of ours.
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

/// The result of a publish().
enum class Published {
  ok,         ///< handed to the middleware
  timed_out,  ///< back-pressure lasted longer than Settings::write_timeout; the message was not, or not wholly, sent
  failed,     ///< the middleware refused; see last_error()
};

/// A non-owning callback for messages that arrive on the middleware's own thread. The object must outlive the
/// listening. A default-constructed Listener is empty: it converts to false, and calling it does nothing.
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

/// Stands for the roles' visitors in the concepts below.
struct AnyVisitor {
  void operator()(std::span<const std::byte> /*message*/) noexcept {}
};

/// Sends the messages of one topic. Used by one thread at a time: the role's own, or, under `listen`, the middleware's.
///
/// loan(bytes)  Returns memory of exactly `bytes` (Topic::message_bytes, or fewer if the sizes of the topic vary) to
///              write a message in: the middleware's own if Settings::loan is set, otherwise a buffer of the adapter.
///              The caller owns the memory until the next publish(); its content is undefined. Does not block. Empty if
///              the middleware has no memory to lend: the core counts a failed publish. A second call without a
///              publish() returns the same memory. For a typed message (Topic::type is not octets) it is the main array
///              of the message; publish() serialises the whole message.
/// publish()    Sends the message in the memory of the last loan(). May block under back-pressure, at most for
///              Settings::write_timeout.
/// matched()    Returns the number of subscribers of this topic that this publisher has found so far. Not on the hot
///              path: called every few ms until all are found.
template <class P>
concept Publisher = requires(P& publisher, std::size_t bytes) {
  { publisher.loan(bytes) } noexcept -> std::same_as<std::span<std::byte>>;
  { publisher.publish() } noexcept -> std::same_as<Published>;
  { publisher.matched() } -> std::convertible_to<std::size_t>;
};

/// Receives the messages of one topic. Used by one thread.
///
/// take(visitor)  Visits messages that have arrived, in the middleware's order, and never blocks. It visits all
///                messages that were there when it was called, or as many as its bound allows (BoundsTake); after a
///                wait() at least those that the wait() announced. The adapter owns the memory, which is valid during
///                the visit only. For a typed message the main array is visited. If the rest of the message differs
///                from what was sent, its last byte is left out, and the core counts the message as damaged
///                (kit/messages.hpp). The visitor may publish on another topic. Returns the number of visits. Only
///                messages are visited: no metadata, no disposals, no messages of this process's own topics.
/// wait(timeout)  Blocks the way the middleware prefers (waitset, condition, futex, socket) until a message may be
///                there or `timeout` (> 0) has passed. Returns true if take() is worth calling, which may be spurious.
///                Must return at once if messages arrived before the call and have not been taken.
template <class S>
concept Subscriber = requires(S& subscriber, AnyVisitor& visitor, std::chrono::nanoseconds timeout) {
  { subscriber.take(visitor) } noexcept -> std::convertible_to<std::size_t>;
  { subscriber.wait(timeout) } noexcept -> std::same_as<bool>;
};

/// Optional for subscribers; required if a transport lists "listen".
///
/// listen(l)  Calls `l` for each message on the middleware's own thread, never for two messages at a time, from now
///            until silence() returns. take() and wait() are not called meanwhile.
/// silence()  Ends the listening. After it returns, no call is running and none will follow.
template <class S>
concept Listens = Subscriber<S> && requires(S& subscriber, Listener listener) {
  subscriber.listen(listener);
  subscriber.silence();
};

/// Opens the middleware for this process, once. `describe()` must not open anything: every `list` calls it.
/// publisher(topic, index) and subscriber(topic, index) are called on the main thread, before the start; `index` counts
/// the publishers (subscribers) of that topic over all processes, from 0. They return by value, and the result is never
/// moved. All publishers and subscribers of a process exist before the first matched().
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

/// Optional: the middleware's own request and reply. Without it the core uses one topic for each direction, and the
/// result says so. `service` counts its clients as publishers and has one server. Clients and servers are made like
/// publishers and subscribers, on the main thread before the start, and used by one thread (or, under `listen`, the
/// middleware's). In a graph (Transport::services) each request and reply has its own size, at most
/// Topic::message_bytes, and `varies` is set.
///
/// client(service, index)  publish() sends a request; take(), wait() and listen() receive the replies to this client's
///                         requests. matched() counts the servers it has found (0 or 1). A client has one request in
///                         flight: publish() is called again after its reply was taken or has been given up. A reply
///                         that arrives after that may be dropped. A wait() that times out gives nothing up.
/// server(service, index)  take(), wait() and listen() receive requests. During the visit of a request, loan() and
///                         publish() answer this request, at most once; they are not called outside of visits.
///                         matched() counts the clients it has found.
template <class A>
concept HasRequestReply = Adapter<A> && requires(A& adapter, const Topic& service, unsigned index) {
  requires Exchange<decltype(adapter.client(service, index))>;
  requires Exchange<decltype(adapter.server(service, index))>;
};

/// Optional: the daemons that this trial needs. A separate process is asked before any worker starts. May write
/// configuration files into Settings::scratch and name them in Companion::environment. Required if a transport sets
/// `companions`.
template <class A>
concept HasCompanions = requires(const Settings& settings) {
  { A::companions(settings) } -> std::same_as<std::vector<Companion>>;
};

/// Optional for publishers and subscribers, called once after the end: the middleware's own words for the last failure;
/// empty if nothing failed.
template <class T>
concept HasLastError = requires(const T& object) {
  { object.last_error() } -> std::convertible_to<std::string>;
};

/// Optional for subscribers: `static constexpr std::size_t most_per_take`, the number of messages after which take()
/// returns even if more keep arriving, so that the role can check for the stop. take() finishes a batch that it has
/// begun. The bound can influence what is measured, so the core writes it into the description. Without a bound, take()
/// visits the messages that were there when it was called.
template <class S>
concept BoundsTake = requires { typename std::integral_constant<std::size_t, S::most_per_take>; };

/// Optional for subscribers: the number of publishers of its topic that this subscriber has found so far. A message to
/// a subscriber that does not know the publisher yet may be lost, so a trial starts after both sides have found each
/// other. Not on the hot path; called like Publisher's matched().
template <class S>
concept CountsPublishers = requires(S& subscriber) {
  { subscriber.publishers_found() } -> std::convertible_to<std::size_t>;
};

/// Optional for subscribers: when the kernel received the message that was visited last, in ns of CLOCK_REALTIME from
/// SO_TIMESTAMPING; 0 if the kernel gave no time. Never a time that the adapter took itself. Called on the visiting
/// thread, during the visit or before the next take() or wait(), for some messages or for all.
template <class S>
concept HasArrivalStamp = requires(const S& subscriber) {
  { subscriber.arrived_ns() } noexcept -> std::same_as<std::uint64_t>;
};

/// Optional for publishers and subscribers of typed messages that the kit or the adapter (de)serialises: where they
/// record how long (de)serialising took, in publish() and before the visit (coding.hpp). Null for octets. Called when
/// the measuring begins and after the end.
template <class P>
concept ReportsSerializing = requires(P& publisher) {
  { publisher.serializing() } noexcept -> std::same_as<CodingTimes*>;
};
template <class S>
concept ReportsDeserializing = requires(S& subscriber) {
  { subscriber.deserializing() } noexcept -> std::same_as<CodingTimes*>;
};

/// Optional: throws an AdapterError for settings that neither a transport's description nor the table of native
/// settings can exclude, such as two settings that exclude each other. A pure function that opens nothing: the plan may
/// call it too.
template <class A>
concept HasCheck = requires(const Settings& settings) {
  { A::check(settings) } -> std::same_as<void>;
};

/// Optional for adapters, called once, after matching, in a trial with security: the algorithms in force, in the
/// middleware's words, such as "CURVE: Curve25519, XSalsa20-Poly1305". Required if a transport lists a level of
/// security. kit/credentials.hpp has the process's certificate and key. An adapter that cannot provide the requested
/// level throws, and never sends without it.
template <class A>
concept ReportsProtection = requires(const A& adapter) {
  { adapter.protected_by() } -> std::convertible_to<std::string>;
};

/// Optional for adapters, called once if peers were not found in time: what the middleware reported about peers that it
/// rejected, or about other faults; empty if nothing. It becomes part of the trial's error.
template <class A>
concept ReportsRefusals = requires(const A& adapter) {
  { adapter.refusals() } -> std::convertible_to<std::string>;
};

/// Optional for adapters, called once, after matching: what the user should know about how the settings were applied.
template <class A>
concept HasNotes = requires(const A& adapter) {
  { adapter.notes() } -> std::same_as<std::vector<std::string>>;
};

}  // namespace middlemark
