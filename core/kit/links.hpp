// The stream connections of one process: which process connects to which, and which messages are sent in each
// direction. All connections are made before the roles start, with one exception: a process that only receives accepts
// connections until its first take() or wait() has returned.
//
// A stream has two directions, so two processes that publish to each other share one connection. With TCP a reply then
// carries the acknowledgement of its request, and a round trip takes 6.4 µs instead of 10.2 µs (polling, 64 B). Both
// processes must pair the flows in the same way, whichever starts first. So each process first waits until all its
// peers have announced themselves (Topic has the number of peers). It then sorts the flows of each direction and pairs
// the k-th flow of one direction with the k-th of the other. The process with the lower number connects. A connection
// begins with a Hello that names the flows of its two directions.
#pragma once

#include <sys/random.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/socket.hpp>

namespace middlemark::kit {

/// FNV-1a returns the same hash in every worker. std::hash does not guarantee this.
[[nodiscard]] constexpr std::uint64_t name_hash(std::string_view name) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  return hash;
}

/// The content of an endpoint's note for the other workers: the worker's random number, and the worker's address.
struct Announcement {
  std::uint64_t process = 0;
  Address address;
};

enum class End { publisher, subscriber };

[[nodiscard]] inline std::string note_of(const std::string& topic, End end, unsigned index) {
  return end == End::publisher ? publisher_note(topic, index) : subscriber_note(topic, index);
}

/// A flow is the messages from one publisher to one subscriber. It uses one direction of a connection.
struct Flow {
  std::uint64_t topic = 0;  ///< name_hash() of the topic; 0: no flow
  std::uint32_t publisher = 0;
  std::uint32_t subscriber = 0;

  friend auto operator<=>(const Flow&, const Flow&) = default;
};

class Links {
 public:
  /// `listener` is bound, listening and non-blocking; `tune` sets the options of each connection.
  Links(const Settings& settings, Descriptor listener, std::function<void(int)> tune)
      : trial_(name_hash(settings.scope)), notes_(settings), listener_(std::move(listener)), tune_(std::move(tune)) {
    while (self_.process == 0) {
      if (getrandom(&self_.process, sizeof self_.process, 0) < 0) fail("getrandom()");
    }
    self_.address = address_of(listener_.get());
    allow_many_descriptors();
  }

  /// Adds an endpoint of this process and writes its note. Call for all endpoints before the first matched().
  void add(const Topic& topic, End kind, unsigned index) {
    const std::lock_guard lock(mutex_);
    if (planned_) throw AdapterError(topic.name + ": made after this process's topics were matched");
    const unsigned peers = kind == End::publisher ? topic.subscribers : topic.publishers;
    members_.push_back({topic.name, kind, index, std::vector<std::optional<Announcement>>(peers)});
    flows_ += peers;
    ways_.reserve(flows_);
    connections_.reserve(flows_);
    strangers_.reserve(flows_ + 16);  // other programs may also connect
    notes_.leave(note_of(topic.name, kind, index), self_);
  }

  /// Makes and accepts all connections that can be made now. Does not wait for a peer.
  void advance() {
    const std::lock_guard lock(mutex_);
    accept_waiting();
    if (!planned_) {
      if (!everyone_is_known()) return;
      plan();
      planned_ = true;
    }
    std::erase_if(to_make_, [this](const Connect& each) { return make(each); });
  }

  /// Accepts connections that peers have made. Neither throws nor allocates.
  void accept() noexcept {
    const std::lock_guard lock(mutex_);
    accept_waiting();
  }

  /// Returns the socket to which this process writes a flow; -1 if there is none yet. incoming() returns the socket
  /// from which it reads a flow. This object owns the socket.
  [[nodiscard]] int outgoing(const Flow& flow) noexcept {
    const std::lock_guard lock(mutex_);
    return end(flow, true);
  }
  [[nodiscard]] int incoming(const Flow& flow) noexcept {
    const std::lock_guard lock(mutex_);
    return end(flow, false);
  }
  [[nodiscard]] int listener() const noexcept { return listener_.get(); }

 private:
  struct Member {
    std::string topic;
    End kind;
    unsigned index;
    std::vector<std::optional<Announcement>> peers;  // by the endpoint's index
  };
  struct Peer {
    Flow flow;
    Address address;  // of the subscriber's process

    friend bool operator<(const Peer& a, const Peer& b) { return a.flow < b.flow; }
  };
  struct Hello {
    std::uint64_t trial;
    Flow forward;
    Flow reverse;  // topic 0: this direction is not used
  };
  static_assert(sizeof(Hello) == 40);
  struct Connect {
    Flow forward;
    Flow reverse;
    Address address;
  };
  struct Way {
    Flow flow;
    bool outgoing;
    int fd;
  };

  bool everyone_is_known() {
    bool all = true;
    for (Member& member : members_) {
      const End other = member.kind == End::publisher ? End::subscriber : End::publisher;
      for (unsigned i = 0; i < member.peers.size(); ++i) {
        if (!member.peers[i]) {
          member.peers[i] = notes_.find<Announcement>(note_of(member.topic, other, i));
        }
        all = all && member.peers[i].has_value();
      }
    }
    return all;
  }

  void plan() {
    std::map<std::uint64_t, std::vector<Peer>> to;  // by the peer's process
    std::map<std::uint64_t, std::vector<Peer>> from;
    for (const Member& member : members_) {
      const std::uint64_t topic = name_hash(member.topic);
      for (unsigned i = 0; i < member.peers.size(); ++i) {
        const Announcement& peer = *member.peers[i];
        if (member.kind == End::publisher) {
          to[peer.process].push_back({{topic, member.index, i}, peer.address});
        } else {
          from[peer.process].push_back({{topic, i, member.index}, peer.address});
        }
      }
    }
    for (auto& [process, flows] : to) {
      std::ranges::sort(flows, std::less{});
      if (process == self_.process) {
        plan_within(flows);
        continue;
      }
      std::vector<Peer>& back = from[process];
      std::ranges::sort(back, std::less{});
      for (std::size_t k = 0; k < flows.size(); ++k) {
        const bool paired = k < back.size();
        if (paired && self_.process > process) continue;  // the peer's process connects
        to_make_.push_back({flows[k].flow, paired ? back[k].flow : Flow{}, flows[k].address});
      }
    }
  }

  /// Plans the connections of the process to itself: pairs the flows of each topic with the flows of the next topic.
  void plan_within(const std::vector<Peer>& flows) {
    std::vector<std::vector<Peer>> topics;
    for (const Peer& each : flows) {
      if (topics.empty() || topics.back().back().flow.topic != each.flow.topic) topics.emplace_back();
      topics.back().push_back(each);
    }
    if (topics.size() % 2 != 0) topics.emplace_back();
    for (std::size_t i = 0; i < topics.size(); i += 2) {
      std::vector<Peer>& longer = topics[i].size() >= topics[i + 1].size() ? topics[i] : topics[i + 1];
      std::vector<Peer>& shorter = &longer == &topics[i] ? topics[i + 1] : topics[i];
      for (std::size_t k = 0; k < longer.size(); ++k) {
        to_make_.push_back({longer[k].flow, k < shorter.size() ? shorter[k].flow : Flow{}, longer[k].address});
      }
    }
  }

  /// Makes a connection. Returns false if the peer does not accept connections yet, or has gone away.
  bool make(const Connect& plan) {
    Descriptor socket = open_socket(plan.address.storage.ss_family, SOCK_STREAM);
    tune_(socket.get());
    if (connect(socket.get(), plan.address.get(), plan.address.length) != 0) {
      if (errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR) return false;
      fail("connect() to a subscriber of this trial");
    }
    const Hello hello{trial_, plan.forward, plan.reverse};
    if (send(socket.get(), &hello, sizeof hello, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof hello)) return false;
    keep(std::move(socket), {plan.forward, true}, {plan.reverse, false});
    return true;
  }

  void accept_waiting() noexcept {
    while (connections_.size() < connections_.capacity() && strangers_.size() < strangers_.capacity()) {
      Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket) break;
      strangers_.push_back(std::move(socket));
    }
    std::erase_if(strangers_, [this](Descriptor& each) { return greet(each); });
  }

  /// Reads the Hello of a connection. Returns false if the Hello has not arrived yet. Otherwise returns true and takes
  /// over `socket` if the connection belongs to this trial; if it does not, the caller must close `socket`.
  bool greet(Descriptor& socket) noexcept {
    Hello hello;
    const ssize_t peeked = recv(socket.get(), &hello, sizeof hello, MSG_PEEK | MSG_DONTWAIT);
    if (peeked < 0) return errno != EAGAIN && errno != EINTR;
    if (peeked == 0) return true;
    if (peeked != static_cast<ssize_t>(sizeof hello)) return false;
    recv(socket.get(), &hello, sizeof hello, 0);
    if (hello.trial != trial_ || end(hello.forward, false) >= 0) return true;
    try {
      tune_(socket.get());
    } catch (const AdapterError&) {
      return true;
    }
    keep(std::move(socket), {hello.forward, false}, {hello.reverse, true});
    return true;
  }

  void keep(Descriptor socket, std::pair<Flow, bool> forward, std::pair<Flow, bool> reverse) noexcept {
    for (const auto& [flow, is_outgoing] : {forward, reverse}) {
      if (flow.topic != 0) ways_.push_back({flow, is_outgoing, socket.get()});
    }
    connections_.push_back(std::move(socket));
  }

  [[nodiscard]] int end(const Flow& flow, bool is_outgoing) const noexcept {
    for (const Way& each : ways_) {
      if (each.flow == flow && each.outgoing == is_outgoing) return each.fd;
    }
    return -1;
  }

  const std::uint64_t trial_;
  const Rendezvous notes_;
  const Descriptor listener_;
  const std::function<void(int)> tune_;
  Announcement self_;
  std::mutex mutex_;
  std::vector<Member> members_;
  std::size_t flows_ = 0;  // number of flows of this process's endpoints
  bool planned_ = false;
  std::vector<Connect> to_make_;
  std::vector<Way> ways_;
  std::vector<Descriptor> connections_;
  std::vector<Descriptor> strangers_;  // accepted connections whose Hello has not been read yet
};

}  // namespace middlemark::kit
