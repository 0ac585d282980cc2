// Eclipse iceoryx2, a Rust crate behind a small C interface. README.md says how each setting becomes one of its own.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>

#include "abi.hpp"
#include "native.hpp"
#include "ports.hpp"
#include "room.hpp"

namespace middlemark {

class Iceoryx2 {
 public:
  explicit Iceoryx2(const Settings& settings)
      : settings_(checked(settings)),
        room_(settings),
        trial_(open(settings, iceoryx2::native_alignment(settings), room_)) {}

  [[nodiscard]] static Description describe() {
    Description description;
    description.name = "iceoryx2";
    description.title = "Eclipse iceoryx2";
    std::array<char, 32> version{};
    iceoryx2::mm_iox2_version(version.data(), version.size());
    description.version = version.data();
    description.licence = "Apache-2.0 OR MIT";
    description.request_reply = true;
    Transport shm;
    shm.name = "shm";
    shm.carrier = "shared-memory";
    shm.segments = {prefix + "*.data"};
    shm.receive = {"poll", "block"};
    shm.loan = {false, true};
    shm.max_depth = 1'000'000;  // as deep as was tried; it has no bound of its own
    description.transports = {shm};
    description.residue = {"/dev/shm/" + prefix + "{scope}_*"};
    description.native = {{iceoryx2::alignment_key, iceoryx2::alignment_text}};
    return description;
  }

  [[nodiscard]] iceoryx2::Publisher publisher(const Topic& topic, unsigned index) {
    return {trial_.get(), ends(topic), index};
  }
  [[nodiscard]] iceoryx2::Subscriber subscriber(const Topic& topic, unsigned index) {
    return {trial_.get(), ends(topic), index};
  }
  [[nodiscard]] iceoryx2::Client client(const Topic& service, unsigned index) {
    return {trial_.get(), ends(service), index};
  }
  [[nodiscard]] iceoryx2::Server server(const Topic& service, unsigned index) {
    return {trial_.get(), ends(service), index};
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    if (settings_.pattern == Pattern::request_reply) return {};
    const std::string held = std::to_string(room_.messages());
    if (!settings_.depth) {
      return {"keep-all is bounded to " + held +
              " messages of a publisher waiting in a subscriber: beyond, a reliable publisher is held up and best "
              "effort loses"};
    }
    if (!room_.bounded()) return {};
    return {"a subscriber holds " + held + " messages of a publisher where the depth asks for " +
            std::to_string(*settings_.depth) + ": all publishers together keep to half of /dev/shm"};
  }

 private:
  /// Of every file in /dev/shm; rust/src/trial.rs says the same.
  static inline const std::string prefix = "middlemark-iox2.";

  static const Settings& checked(const Settings& settings) {
    // With the rest of its name the address of a listener's Unix socket ends here.
    constexpr std::size_t longest_scope = 28;
    if (settings.scope.size() > longest_scope) {
      throw AdapterError("iceoryx2: the scope \"" + settings.scope + "\" is longer than " +
                         std::to_string(longest_scope) + " characters: iceoryx2 names Unix sockets after it");
    }
    return settings;
  }

  static iceoryx2::Trial* open(const Settings& settings, std::size_t alignment, const iceoryx2::Room& room) {
    const bool reliable = settings.reliability == Reliability::reliable;
    const iceoryx2::Rules rules{
        .scope = settings.scope.c_str(),
        .scratch = settings.scratch.c_str(),
        .write_timeout_ns = iceoryx2::nanoseconds_of(settings.write_timeout),
        .nodes = settings.workers,
        .buffer = room.messages(),
        .alignment = alignment,
        .reliable = reliable,
        .overflows = !reliable && settings.depth.has_value(),
        .blocks = settings.reception == Reception::block,
        .loans = settings.loan,
    };
    return iceoryx2::made("a node in " + settings.scratch,
                          [&](const iceoryx2::ErrorText* error) { return iceoryx2::mm_iox2_open(&rules, error); });
  }

  [[nodiscard]] static iceoryx2::Ends ends(const Topic& topic) {
    return {topic.name.c_str(), topic.message_bytes, topic.publishers, topic.subscribers};
  }

  const Settings settings_;
  const iceoryx2::Room room_;
  iceoryx2::Owned<iceoryx2::Trial, iceoryx2::mm_iox2_close> trial_;
};

static_assert(Adapter<Iceoryx2>);
static_assert(HasRequestReply<Iceoryx2>);
static_assert(HasNotes<Iceoryx2>);
static_assert(CountsPublishers<iceoryx2::Subscriber>);

}  // namespace middlemark
