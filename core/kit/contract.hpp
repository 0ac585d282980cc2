// Checks the contract of adapter.hpp. Each requirement that an adapter does not fulfil becomes one readable error of
// the compiler. An optional hook that is misspelt or has another signature is also an error, because the core would
// silently ignore it.
//
//   static_assert(middlemark::fulfils_contract<YourMiddleware>);
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>

namespace middlemark {
namespace contract {

// has_<name><T> is true if T has a member of any kind with this name: the name is then ambiguous in Both_<name>.
#define MIDDLEMARK_MEMBER(name)            \
  struct Decoy_##name {                    \
    void name() {}                         \
  };                                       \
  template <class T>                       \
  struct Both_##name : T, Decoy_##name {}; \
  template <class T>                       \
  concept has_##name = !std::is_final_v<T> && !requires { &Both_##name<T>::name; };

MIDDLEMARK_MEMBER(listen)
MIDDLEMARK_MEMBER(silence)
MIDDLEMARK_MEMBER(last_error)
MIDDLEMARK_MEMBER(lastError)
MIDDLEMARK_MEMBER(last_Error)
MIDDLEMARK_MEMBER(lasterror)
MIDDLEMARK_MEMBER(LastError)
MIDDLEMARK_MEMBER(last_failure)
MIDDLEMARK_MEMBER(most_per_take)
MIDDLEMARK_MEMBER(publishers_found)
MIDDLEMARK_MEMBER(publishersFound)
MIDDLEMARK_MEMBER(publishers_Found)
MIDDLEMARK_MEMBER(publisher_found)
MIDDLEMARK_MEMBER(found_publishers)
MIDDLEMARK_MEMBER(PublishersFound)
MIDDLEMARK_MEMBER(arrived_ns)
MIDDLEMARK_MEMBER(arrivedNs)
MIDDLEMARK_MEMBER(arrived_Ns)
MIDDLEMARK_MEMBER(arrival_ns)
MIDDLEMARK_MEMBER(ArrivedNs)
MIDDLEMARK_MEMBER(serializing)
MIDDLEMARK_MEMBER(deserializing)
MIDDLEMARK_MEMBER(notes)
MIDDLEMARK_MEMBER(note)
MIDDLEMARK_MEMBER(Notes)
MIDDLEMARK_MEMBER(refusals)
MIDDLEMARK_MEMBER(shared_segment)
MIDDLEMARK_MEMBER(protected_by)
MIDDLEMARK_MEMBER(protectedBy)
MIDDLEMARK_MEMBER(own_settings)
MIDDLEMARK_MEMBER(ownSettings)
MIDDLEMARK_MEMBER(check)
MIDDLEMARK_MEMBER(Check)
MIDDLEMARK_MEMBER(companions)
MIDDLEMARK_MEMBER(companion)
MIDDLEMARK_MEMBER(Companions)
MIDDLEMARK_MEMBER(run_companion)
MIDDLEMARK_MEMBER(client)
MIDDLEMARK_MEMBER(server)
#undef MIDDLEMARK_MEMBER

template <class E>
consteval void check_last_error() {
  static_assert(!has_last_error<E> || HasLastError<E>,
                "last_error() must be callable on a const object and return a std::string");
  static_assert(
      !has_lastError<E> && !has_last_Error<E> && !has_lasterror<E> && !has_LastError<E> && !has_last_failure<E>,
      "misspelt: the optional hook is called last_error()");
}

template <class P>
consteval void check_publisher() {
  constexpr bool loan = requires(P& publisher, std::size_t bytes) { publisher.loan(bytes); };
  constexpr bool gives = requires(P& publisher, std::size_t bytes) {
    { publisher.loan(bytes) } -> std::same_as<std::span<std::byte>>;
  };
  constexpr bool publish = requires(P& publisher) { publisher.publish(); };
  constexpr bool says = requires(P& publisher) {
    { publisher.publish() } -> std::same_as<Published>;
  };
  static_assert(
      loan,
      "the publisher lacks loan(std::size_t bytes): if the middleware lends no memory, derive from kit::OwnBuffer");
  static_assert(!loan || gives, "the publisher's loan() must return std::span<std::byte>");
  static_assert(
      !gives || requires(P& publisher, std::size_t bytes) {
        { publisher.loan(bytes) } noexcept;
      }, "the publisher's loan() must be noexcept: it runs while the trial is measured");
  static_assert(publish, "the publisher lacks publish()");
  static_assert(!publish || says, "the publisher's publish() must return middlemark::Published");
  static_assert(
      !says || requires(P& publisher) {
        { publisher.publish() } noexcept;
      }, "the publisher's publish() must be noexcept: return Published::failed and say why in last_error()");
  static_assert(
      requires(P& publisher) {
        { publisher.matched() } -> std::convertible_to<std::size_t>;
      }, "the publisher lacks matched(), which returns the number of subscribers that it has found");
  static_assert(!has_serializing<P> || ReportsSerializing<P>,
                "serializing() must be noexcept and return middlemark::CodingTimes*");
  check_last_error<P>();
}

template <class S>
consteval void check_subscriber() {
  constexpr bool take = requires(S& subscriber, AnyVisitor& visitor) { subscriber.take(visitor); };
  constexpr bool counts = requires(S& subscriber, AnyVisitor& visitor) {
    { subscriber.take(visitor) } -> std::convertible_to<std::size_t>;
  };
  constexpr bool wait = requires(S& subscriber, std::chrono::nanoseconds timeout) { subscriber.wait(timeout); };
  constexpr bool says = requires(S& subscriber, std::chrono::nanoseconds timeout) {
    { subscriber.wait(timeout) } -> std::same_as<bool>;
  };
  static_assert(
      take,
      "the subscriber lacks take(visitor): a template over the visitor, which it calls with each message's bytes");
  static_assert(!take || counts, "the subscriber's take() must return the number of visits");
  static_assert(
      !counts || requires(S& subscriber, AnyVisitor& visitor) {
        { subscriber.take(visitor) } noexcept;
      }, "the subscriber's take() must be noexcept: it runs while the trial is measured");
  static_assert(wait, "the subscriber lacks wait(std::chrono::nanoseconds timeout)");
  static_assert(!wait || says, "the subscriber's wait() must return bool: whether take() is worth calling");
  static_assert(
      !says || requires(S& subscriber, std::chrono::nanoseconds timeout) {
        { subscriber.wait(timeout) } noexcept;
      }, "the subscriber's wait() must be noexcept: it runs while the trial is measured");

  static_assert(has_listen<S> == has_silence<S>, "listen() and silence() come together: one of them is missing");
  static_assert(!has_listen<S> || !has_silence<S> || Listens<S>,
                "listen() must take a middlemark::Listener, and silence() nothing");
  static_assert(!has_most_per_take<S> || BoundsTake<S>,
                "most_per_take must be public: static constexpr std::size_t most_per_take");
  static_assert(
      !has_publishers_found<S> || CountsPublishers<S>,
      "publishers_found() must take nothing and return the number of publishers that the subscriber has found");
  static_assert(!has_publishersFound<S> && !has_publishers_Found<S> && !has_publisher_found<S> &&
                    !has_found_publishers<S> && !has_PublishersFound<S>,
                "misspelt: the optional hook is called publishers_found()");
  static_assert(!has_arrived_ns<S> || HasArrivalStamp<S>,
                "arrived_ns() must be const and noexcept and return std::uint64_t");
  static_assert(!has_arrivedNs<S> && !has_arrived_Ns<S> && !has_arrival_ns<S> && !has_ArrivedNs<S>,
                "misspelt: the optional hook is called arrived_ns()");
  static_assert(!has_deserializing<S> || ReportsDeserializing<S>,
                "deserializing() must be noexcept and return middlemark::CodingTimes*");
  check_last_error<S>();
}

template <class A>
consteval bool check() {
  constexpr bool publisher =
      requires(A& adapter, const Topic& topic, unsigned index) { adapter.publisher(topic, index); };
  constexpr bool subscriber =
      requires(A& adapter, const Topic& topic, unsigned index) { adapter.subscriber(topic, index); };
  static_assert(std::constructible_from<A, const Settings&>,
                "the adapter lacks a public constructor that takes a const middlemark::Settings&");
  static_assert(
      requires {
        { A::describe() } -> std::same_as<Description>;
      }, "the adapter lacks: static middlemark::Description describe()");
  static_assert(publisher, "the adapter lacks publisher(const middlemark::Topic& topic, unsigned index)");
  static_assert(subscriber, "the adapter lacks subscriber(const middlemark::Topic& topic, unsigned index)");
  if constexpr (publisher) {
    using P = decltype(std::declval<A&>().publisher(std::declval<const Topic&>(), 0U));
    static_assert(std::is_object_v<P>, "publisher() must return a publisher by value");
    if constexpr (std::is_class_v<P>) check_publisher<P>();
  }
  if constexpr (subscriber) {
    using S = decltype(std::declval<A&>().subscriber(std::declval<const Topic&>(), 0U));
    static_assert(std::is_object_v<S>, "subscriber() must return a subscriber by value");
    if constexpr (std::is_class_v<S>) check_subscriber<S>();
  }

  constexpr bool client =
      requires(A& adapter, const Topic& service, unsigned index) { adapter.client(service, index); };
  constexpr bool server =
      requires(A& adapter, const Topic& service, unsigned index) { adapter.server(service, index); };
  static_assert(has_client<A> == client && has_server<A> == server,
                "client() and server() must take (const middlemark::Topic& service, unsigned index)");
  static_assert(client == server, "client() and server() come together: one of them is missing");
  if constexpr (client && server) {
    using Client = decltype(std::declval<A&>().client(std::declval<const Topic&>(), 0U));
    using Server = decltype(std::declval<A&>().server(std::declval<const Topic&>(), 0U));
    check_publisher<Client>();
    check_subscriber<Client>();
    check_publisher<Server>();
    check_subscriber<Server>();
  }

  static_assert(
      !has_companions<A> || HasCompanions<A>,
      "companions() must be: static std::vector<middlemark::Companion> companions(const middlemark::Settings&)");
  static_assert(!has_companion<A> && !has_Companions<A>, "misspelt: the optional hook is called companions()");
  static_assert(!has_run_companion<A> || HasOwnCompanion<A>,
                "run_companion() must be: static void run_companion(const std::string& file)");
  static_assert(!has_notes<A> || HasNotes<A>, "notes() must be const and return std::vector<std::string>");
  static_assert(!has_note<A> && !has_Notes<A>, "misspelt: the optional hook is called notes()");
  static_assert(!has_refusals<A> || ReportsRefusals<A>, "refusals() must be const and return std::string");
  static_assert(!has_shared_segment<A> || HasSharedSegment<A>,
                "shared_segment() must be const and return SharedSegment");
  static_assert(!has_protected_by<A> || ReportsProtection<A>, "protected_by() must be const and return std::string");
  static_assert(!has_protectedBy<A>, "misspelt: the optional hook is called protected_by()");
  static_assert(!has_own_settings<A> || ReportsSettings<A>,
                "own_settings() must be const and return middlemark::OwnSettings");
  static_assert(!has_ownSettings<A>, "misspelt: the optional hook is called own_settings()");
  static_assert(!has_check<A> || HasCheck<A>, "check() must be: static void check(const middlemark::Settings&)");
  static_assert(!has_Check<A>, "misspelt: the optional hook is called check()");
  return true;
}

}  // namespace contract

/// True if `A` fulfils the contract. Otherwise the compiler reports each missing requirement.
template <class A>
inline constexpr bool fulfils_contract = contract::check<A>();

}  // namespace middlemark
