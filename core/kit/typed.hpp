// Typed messages over a middleware that transports bytes: publish() serialises a message into the middleware's memory,
// and take() deserialises it before the visit. Typed<A, Coding> wraps the adapter A; octets are passed on unchanged.
//
// `Coding` has the members that messages.hpp requires of `Types`, and
//   name                                       the serialiser's name in reports
//   encode(message, memory) -> std::size_t     bytes written; 0: the memory is too small
//   decode(message, bytes) -> bool             false: the bytes are damaged
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/coding.hpp>
#include <middlemark/kit/messages.hpp>
#include <middlemark/kit/pinned.hpp>

namespace middlemark::kit {

class CodedMessage : Pinned {
 public:
  virtual ~CodedMessage() = default;
  [[nodiscard]] virtual std::span<std::byte> array() noexcept = 0;
  /// Returns the number of bytes written; 0 if `memory` is too small.
  [[nodiscard]] virtual std::size_t encode(std::span<std::byte> memory) noexcept = 0;
  /// Deserialises `bytes` and returns the bytes to visit, as TypedMessage::received() does; empty if `bytes` are
  /// damaged.
  [[nodiscard]] virtual std::span<const std::byte> decode(std::span<const std::byte> bytes) noexcept = 0;
  /// The bytes to visit of the message that was decoded last.
  [[nodiscard]] virtual std::span<const std::byte> received() noexcept = 0;

  /// How long Coding::encode() or Coding::decode() took last, in ticks of CodingTimes::clock.
  [[nodiscard]] std::uint64_t took() const noexcept { return took_; }
  /// Sets the object to which each later duration is added.
  void add_to(CodingTimes* times) noexcept { times_ = times; }

 protected:
  template <class Code>
  auto timed(Code&& code) noexcept {
    const std::uint64_t begin = CodingTimes::clock.ticks();
    const auto result = code();
    took_ = CodingTimes::clock.ticks() - begin;
    if (times_ != nullptr) times_->add(took_);
    return result;
  }

 private:
  std::uint64_t took_ = 0;
  CodingTimes* times_ = nullptr;
};

template <template <class> class Shape, class Coding>
class CodedMessageOf final : public CodedMessage {
 public:
  explicit CodedMessageOf(std::size_t bytes) : message_(bytes) {}

  [[nodiscard]] std::span<std::byte> array() noexcept override { return message_.array(); }
  [[nodiscard]] std::size_t encode(std::span<std::byte> memory) noexcept override {
    static_cast<void>(message_.to_send());
    return timed([&] { return Coding::encode(message_.message(), memory); });
  }
  [[nodiscard]] std::span<const std::byte> decode(std::span<const std::byte> bytes) noexcept override {
    whole_ = timed([&] { return Coding::decode(message_.message(), bytes); });
    return received();
  }
  [[nodiscard]] std::span<const std::byte> received() noexcept override {
    return whole_ ? message_.received() : std::span<const std::byte>();
  }

 private:
  MessageOf<Shape, Coding> message_;
  bool whole_ = true;
};

/// Returns a new message, or null for octets.
template <class Coding>
[[nodiscard]] std::unique_ptr<CodedMessage> make_coded(MessageType type, std::size_t bytes) {
  if (type == MessageType::octets) return nullptr;
  return with_shape(type, [bytes]<template <class> class Shape>() -> std::unique_ptr<CodedMessage> {
    return std::make_unique<CodedMessageOf<Shape, Coding>>(bytes);
  });
}

/// Returns the serialised size of a message of this type and size. All such messages have the same serialised size.
template <class Coding>
[[nodiscard]] std::size_t coded_bytes(MessageType type, std::size_t bytes) {
  const auto message = make_coded<Coding>(type, bytes);
  if (!message) return bytes;
  for (std::size_t room = bytes + 1024;; room *= 2) {
    std::vector<std::byte> memory(room);
    if (const std::size_t coded = message->encode(memory); coded > 0) return coded;
  }
}

namespace typed {

// The optional hooks. Each is present only if the wrapped publisher or subscriber has it.
template <class Self, class End>
struct Counting {};
template <class Self, class End>
  requires CountsPublishers<End>
struct Counting<Self, End> {
  [[nodiscard]] std::size_t publishers_found() { return static_cast<Self*>(this)->inner().publishers_found(); }
};

template <class End>
struct Bounded {};
template <BoundsTake End>
struct Bounded<End> {
  static constexpr std::size_t most_per_take = End::most_per_take;
};

template <class Self, class End>
struct Stamped {};
template <class Self, class End>
  requires HasArrivalStamp<End>
struct Stamped<Self, End> {
  [[nodiscard]] std::uint64_t arrived_ns() const noexcept {
    return static_cast<const Self*>(this)->inner().arrived_ns();
  }
};

template <class Self, class End>
struct Listening {};
template <class Self, class End>
  requires Listens<End>
struct Listening<Self, End> {
  void listen(Listener listener) { static_cast<Self*>(this)->hear(listener); }
  void silence() { static_cast<Self*>(this)->inner().silence(); }
};

/// A wrapped publisher, subscriber, client or server.
template <class Inner>
class End : public Bounded<Inner>,
            public Counting<End<Inner>, Inner>,
            public Stamped<End<Inner>, Inner>,
            public Listening<End<Inner>, Inner>,
            Pinned {
 public:
  /// `make` returns the object to wrap. `sent` is serialised, and `seen` is filled by deserialising; both are null for
  /// octets.
  template <class Make>
  End(Make&& make, std::size_t coded_bytes, std::unique_ptr<CodedMessage> sent, std::unique_ptr<CodedMessage> seen,
      MessageType type)
      : serializing_(make_times(type)),
        deserializing_(make_times(type)),
        sent_(std::move(sent)),
        seen_(std::move(seen)),
        coded_bytes_(coded_bytes),
        inner_(make()) {
    if (sent_) sent_->add_to(serializing_.get());
    if (seen_) seen_->add_to(deserializing_.get());
  }

  [[nodiscard]] Inner& inner() noexcept { return inner_; }
  [[nodiscard]] const Inner& inner() const noexcept { return inner_; }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept
    requires Publisher<Inner>
  {
    return sent_ ? sent_->array() : inner_.loan(bytes);
  }
  [[nodiscard]] Published publish() noexcept
    requires Publisher<Inner>
  {
    if (sent_) {
      const std::span<std::byte> memory = inner_.loan(coded_bytes_);
      if (sent_->encode(memory) != memory.size())
        return Published::failed;  // the middleware lent no memory, or too little
    }
    return inner_.publish();
  }
  [[nodiscard]] std::size_t matched()
    requires Publisher<Inner>
  {
    return inner_.matched();
  }

  template <class Visitor>
    requires Subscriber<Inner>
  std::size_t take(Visitor& visitor) noexcept {
    if (!seen_) return inner_.take(visitor);
    auto decoding = [this, &visitor](std::span<const std::byte> bytes) noexcept { visitor(decoded(bytes)); };
    return inner_.take(decoding);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept
    requires Subscriber<Inner>
  {
    return inner_.wait(timeout);
  }
  void hear(Listener listener)
    requires Listens<Inner>
  {
    listener_ = listener;
    if (seen_) {
      inner_.listen(Listener(hearing_));
    } else {
      inner_.listen(listener);
    }
  }

  [[nodiscard]] CodingTimes* serializing() noexcept { return serializing_.get(); }
  [[nodiscard]] CodingTimes* deserializing() noexcept { return deserializing_.get(); }

  [[nodiscard]] std::string last_error() const {
    if (damaged_) return "a message arrived whose constant fields differ from what was sent";
    if constexpr (HasLastError<Inner>) return inner_.last_error();
    return {};
  }

 private:
  struct Hearing {
    End& end;
    void operator()(std::span<const std::byte> bytes) noexcept { end.listener_(end.decoded(bytes)); }
  };

  [[nodiscard]] std::span<const std::byte> decoded(std::span<const std::byte> bytes) noexcept {
    const std::span<const std::byte> seen = seen_->decode(bytes);
    damaged_ |= seen.size() != seen_->array().size();
    return seen;
  }

  const std::unique_ptr<CodingTimes> serializing_;
  const std::unique_ptr<CodingTimes> deserializing_;
  const std::unique_ptr<CodedMessage> sent_;
  const std::unique_ptr<CodedMessage> seen_;
  const std::size_t coded_bytes_;
  bool damaged_ = false;
  Listener listener_;
  Hearing hearing_{*this};
  Inner inner_;  // destroyed first, because it may call the listener until it is destroyed
};

template <class Self, class A>
struct Companied {};
template <class Self, class A>
  requires HasCompanions<A>
struct Companied<Self, A> {
  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) {
    return A::companions(Self::coded(settings));
  }
};

template <class A>
struct Hosting {};
template <class A>
  requires HasOwnCompanion<A>
struct Hosting<A> {
  static void run_companion(const std::string& file) { A::run_companion(file); }
};

template <class Self, class A>
struct Protecting {};
template <class Self, class A>
  requires ReportsProtection<A>
struct Protecting<Self, A> {
  [[nodiscard]] std::string protected_by() const { return static_cast<const Self*>(this)->inner().protected_by(); }
};

template <class Self, class A>
struct Serving {};
template <class Self, class A>
  requires HasRequestReply<A>
struct Serving<Self, A> {
  [[nodiscard]] auto client(const Topic& service, unsigned index) {
    Self& self = *static_cast<Self*>(this);
    return self.end([&](const Topic& coded) { return self.inner().client(coded, index); }, service);
  }
  [[nodiscard]] auto server(const Topic& service, unsigned index) {
    Self& self = *static_cast<Self*>(this);
    return self.end([&](const Topic& coded) { return self.inner().server(coded, index); }, service);
  }
};

}  // namespace typed

template <class A, class Coding>
class Typed : public typed::Companied<Typed<A, Coding>, A>,
              public typed::Hosting<A>,
              public typed::Protecting<Typed<A, Coding>, A>,
              public typed::Serving<Typed<A, Coding>, A>,
              Pinned {
 public:
  explicit Typed(const Settings& settings) : settings_(settings), inner_(coded(settings)) {}

  [[nodiscard]] static Description describe() {
    Description about = A::describe();
    for (Transport& each : about.transports) each.types = all_types;
    return about;
  }

  static void check(const Settings& settings) {
    const Settings inside = coded(settings);
    for (const Transport& each : A::describe().transports) {
      if (each.name != settings.transport || inside.message_bytes <= each.max_bytes) continue;
      throw AdapterError(each.name + ": serialised, these messages have " + std::to_string(inside.message_bytes) +
                             " bytes (at most " + std::to_string(each.max_bytes) + ")",
                         each.max_bytes_advice);
    }
    if constexpr (HasCheck<A>) A::check(inside);
  }

  [[nodiscard]] auto publisher(const Topic& topic, unsigned index) {
    return end([&](const Topic& inside) { return inner_.publisher(inside, index); }, topic);
  }
  [[nodiscard]] auto subscriber(const Topic& topic, unsigned index) {
    return end([&](const Topic& inside) { return inner_.subscriber(inside, index); }, topic);
  }

  [[nodiscard]] std::string refusals() const {
    if constexpr (ReportsRefusals<A>) return inner_.refusals();
    return {};
  }

  [[nodiscard]] SharedSegment shared_segment() const {
    if constexpr (HasSharedSegment<A>) return inner_.shared_segment();
    return {};
  }

  [[nodiscard]] OwnSettings own_settings() const {
    if constexpr (ReportsSettings<A>) return inner_.own_settings();
    return {};
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> all;
    if constexpr (HasNotes<A>) all = inner_.notes();
    for (const Topic& each : settings_.endpoints) {
      if (each.type == MessageType::octets) continue;
      all.push_back(std::string(Coding::name) +
                    ": the middleware carries bytes, so the publisher serialises typed messages, " +
                    "and the subscriber deserialises them");
      break;
    }
    return all;
  }

  /// Returns the settings for the wrapped adapter: its messages are octets and have the serialised size.
  [[nodiscard]] static Settings coded(const Settings& settings) {
    Settings inside = settings;
    inside.message_bytes = coded_bytes<Coding>(settings.type, settings.message_bytes);
    inside.type = MessageType::octets;
    if (!settings.topics.empty()) inside.message_bytes = 0;
    for (TopicRequest& each : inside.topics) {
      each.message_bytes = coded_bytes<Coding>(std::exchange(each.type, MessageType::octets), each.message_bytes);
      inside.message_bytes = std::max(inside.message_bytes, each.message_bytes);
    }
    for (Topic& each : inside.endpoints) each = coded(each);
    return inside;
  }

  [[nodiscard]] A& inner() noexcept { return inner_; }
  [[nodiscard]] const A& inner() const noexcept { return inner_; }

  /// Returns the publisher or subscriber that `make` makes for a topic of octets, wrapped for the topic's own type.
  template <class Make>
  [[nodiscard]] auto end(Make&& make, const Topic& topic) {
    const Topic inside = coded(topic);
    const auto made = [&] { return make(inside); };
    return typed::End<decltype(made())>(made, inside.message_bytes, make_coded<Coding>(topic.type, topic.message_bytes),
                                        make_coded<Coding>(topic.type, topic.message_bytes), topic.type);
  }

 private:
  [[nodiscard]] static Topic coded(const Topic& topic) {
    Topic inside = topic;
    inside.message_bytes = coded_bytes<Coding>(topic.type, topic.message_bytes);
    inside.content = std::exchange(inside.type, MessageType::octets);
    return inside;
  }

  const Settings settings_;
  A inner_;
};

}  // namespace middlemark::kit
