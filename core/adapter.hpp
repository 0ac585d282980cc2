// The contract an adapter fulfils: concepts, and nothing else. kit/contract.hpp says in words what one lacks, kit/ has what adapters
// have in common. An adapter sees no timestamp of ours, no statistic, no rate and
// no sequence number; it moves bytes. Templates, not virtual calls: see docs/decisions/.
//
// Life of a worker: Adapter{settings} → publisher()/subscriber() for each topic → (start) → loan/publish/take/wait on the
// roles' threads → (stop) → subscribers and publishers destroyed → adapter destroyed. Everything before the start may throw
// AdapterError; everything after it is noexcept and neither allocates, logs nor takes a lock of ours.
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

/// What a publish() came to.
enum class Published {
  ok,         ///< handed to the middleware
  timed_out,  ///< back-pressure lasted longer than Settings::write_timeout; the message was not, or not wholly, sent
  failed,     ///< the middleware refused; see last_error()
};

/// A non-owning callback for messages received on the middleware's own thread. The object must outlive the listening. One that
/// was made of nothing is empty: converts to false, and does nothing when it is called.
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

/// Sends the messages of one topic. Used by one thread at a time (the role's own, or, under `listen`, the middleware's).
///
/// loan(bytes)  gives memory of exactly `bytes` (== Topic::message_bytes; fewer where the topic varies) to write in: the middleware's own when
///              Settings::loan is set, else a buffer of the adapter's. The memory is the caller's until the next publish()
///              and keeps no promise about its content. Does not block. Empty when the middleware has none to lend: the core
///              counts it as a failed publish. Calling it twice without a publish() gives the same memory again. Of a
///              topic whose type is not octets it is the message's main array; publish() serialises all of it.
/// publish()    hands over what loan() gave. May block for back-pressure, at most Settings::write_timeout.
/// matched()    subscribers of this topic that this publisher has found so far. Cold; called every few ms until all are there.
template <class P>
concept Publisher = requires(P& publisher, std::size_t bytes) {
  { publisher.loan(bytes) } noexcept -> std::same_as<std::span<std::byte>>;
  { publisher.publish() } noexcept -> std::same_as<Published>;
  { publisher.matched() } -> std::convertible_to<std::size_t>;
};

/// Receives the messages of one topic. Used by one thread.
///
/// take(visitor)  visits messages that have arrived, in the middleware's order, and never blocks: all that were there when it
///                was called, or as many as its bound allows (BoundsTake); after a wait(), at least what it announced. The
///                memory is the adapter's and valid during the visit only.
///                Of a type that is not octets the main array is visited, without its last byte where the rest of the
///                message is not as it was sent (kit/messages.hpp): the core counts that as damaged.
///                The visitor may publish on another topic. Returns the number of visits. Only messages are visited: no
///                metadata, no disposals, nothing of this process's own topics.
/// wait(timeout)  blocks the way the middleware wants it (waitset, condition, futex, socket) until something may be there or
///                `timeout` (> 0) has passed. True: take() is worth calling. May be spurious. Must return at once when messages arrived
///                before the call and have not been taken.
template <class S>
concept Subscriber = requires(S& subscriber, AnyVisitor& visitor, std::chrono::nanoseconds timeout) {
  { subscriber.take(visitor) } noexcept -> std::convertible_to<std::size_t>;
  { subscriber.wait(timeout) } noexcept -> std::same_as<bool>;
};

/// Optional on subscribers; required when a transport lists "listen".
///
/// listen(l)  calls `l` for each message on the middleware's own thread, never for two messages at a time, from now until
///            silence() returns. take() and wait() are not called meanwhile.
/// silence()  ends the listening. When it returns no call is under way and none will follow.
template <class S>
concept Listens = Subscriber<S> && requires(S& subscriber, Listener listener) {
  subscriber.listen(listener);
  subscriber.silence();
};

/// Opens the middleware for this process, once. `describe()` must not open anything: it is asked on every `list`.
/// publisher(topic, index) and subscriber(topic, index) are called on the main thread, before the start; `index` counts the
/// publishers (subscribers) of that topic over all processes, from 0. They are returned by value and never moved. All of a
/// process exist before the first matched().
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

/// Both ends of an exchange in one object: see HasRequestReply.
template <class E>
concept Exchange = Publisher<E> && Subscriber<E>;

/// Optional: request and reply as the middleware itself has them. Without it the core uses a topic for each way and the
/// result says so. `service` counts its clients as publishers; it has one server. Both are made like publishers and
/// subscribers, on the main thread before the start, and used by one thread (or, under `listen`, the middleware's). In a graph
/// (Transport::services) requests and replies have sizes of their own, at most Topic::message_bytes: `varies` says so.
///
/// client(service, index)  publish() sends a request; take(), wait() and listen() bring the replies to its own requests.
///                         matched() counts the servers it has found (0 or 1). A client has one request under way: publish()
///                         comes again when its reply was taken or has been given up, and a reply after that may be dropped.
///                         A wait() that times out gives nothing up.
/// server(service, index)  take(), wait() and listen() bring requests. During the visit of a request loan() and publish()
///                         answer that very request, at most once; outside of visits neither is called. matched() counts
///                         the clients it has found.
template <class A>
concept HasRequestReply = Adapter<A> && requires(A& adapter, const Topic& service, unsigned index) {
  requires Exchange<decltype(adapter.client(service, index))>;
  requires Exchange<decltype(adapter.server(service, index))>;
};

/// Optional: the daemons this trial needs, asked of a separate process before any worker starts. May write configuration
/// files into Settings::scratch (and name them in Companion::environment). Required when a transport says `companions`.
template <class A>
concept HasCompanions = requires(const Settings& settings) {
  { A::companions(settings) } -> std::same_as<std::vector<Companion>>;
};

/// Optional on publishers and subscribers, asked once after the end: the middleware's own words for the last failure (empty:
/// none).
template <class T>
concept HasLastError = requires(const T& object) {
  { object.last_error() } -> std::convertible_to<std::string>;
};

/// Optional on subscribers: `static constexpr std::size_t most_per_take`, the number of messages after which take() returns
/// although more keep arriving, so that the role can look for its stop. A batch that take() has begun is visited to its
/// end. The bound can influence what is measured, so the core writes it into the description. A take() without a bound
/// visits what was there when it was called.
template <class S>
concept BoundsTake = requires { typename std::integral_constant<std::size_t, S::most_per_take>; };

/// Optional on subscribers: publishers of its topic that this subscriber has found so far. Discovery is not one event: what
/// is written to a subscriber that does not know the writer yet may be lost, so a trial starts when both sides have found
/// each other. Cold; called like Publisher's matched().
template <class S>
concept CountsPublishers = requires(S& subscriber) {
  { subscriber.publishers_found() } -> std::convertible_to<std::size_t>;
};

/// Optional on subscribers: when the kernel received the message that was visited last, in ns of CLOCK_REALTIME as SO_TIMESTAMPING
/// tells it; 0 where it did not. An instant that the kernel took, never one of the adapter's own. Asked on the visiting thread, in the
/// visit or before the next take() or wait(), for some messages or for all.
template <class S>
concept HasArrivalStamp = requires(const S& subscriber) {
  { subscriber.arrived_ns() } noexcept -> std::same_as<std::uint64_t>;
};

/// Optional on publishers and subscribers of messages of a type, where code of the kit's or the adapter's own (de)serialises them: where
/// it adds how long that took, in publish() and before the visit (coding.hpp). Null of octets. Asked when the measuring begins
/// and after the end.
template <class P>
concept TellsSerializing = requires(P& publisher) {
  { publisher.serializing() } noexcept -> std::same_as<CodingTimes*>;
};
template <class S>
concept TellsDeserializing = requires(S& subscriber) {
  { subscriber.deserializing() } noexcept -> std::same_as<CodingTimes*>;
};

/// Optional: refuses by an AdapterError what neither a transport's description nor the table of native settings can tell, as
/// two settings that exclude each other. A pure function that opens nothing: also a plan may ask.
template <class A>
concept HasCheck = requires(const Settings& settings) {
  { A::check(settings) } -> std::same_as<void>;
};

/// Optional on adapters, asked once, after matching, of a trial with security: the algorithms in force, in the middleware's words,
/// as "CURVE: Curve25519, XSalsa20-Poly1305". Required when a transport lists a level. The process's certificate and key are
/// kit/credentials.hpp's; an adapter that cannot have the level asked for throws, and never sends without it.
template <class A>
concept TellsProtection = requires(const A& adapter) {
  { adapter.protected_by() } -> std::convertible_to<std::string>;
};

/// Optional on adapters, asked once, when peers were not found in time: what the middleware has said of whom it did not let in, or
/// of what else went wrong; empty: nothing. It becomes part of the trial's error.
template <class A>
concept TellsRefusals = requires(const A& adapter) {
  { adapter.refusals() } -> std::convertible_to<std::string>;
};

/// Optional on adapters, asked once, after matching: what the engineer should know of how the settings were carried out.
template <class A>
concept HasNotes = requires(const A& adapter) {
  { adapter.notes() } -> std::same_as<std::vector<std::string>>;
};

}  // namespace middlemark
