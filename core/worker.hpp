// An executable out of an adapter: `int main(int argc, char** argv) { return middlemark::run_worker<X>(argc, argv); }`.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/session.hpp>

namespace middlemark {

/// What run_worker needs of an adapter; the rest of the worker is compiled once.
struct WorkerParts {
  std::function<Description()> describe;
  std::function<std::vector<Companion>(const Settings&)> companions;  ///< empty: the adapter has none
  std::function<void(const Settings&)> check;                         ///< empty: nothing beyond the description
  std::function<std::unique_ptr<Session>(const Configuration&, const Clock&)> open;
  std::optional<std::size_t> most_per_take{};  ///< of its subscribers, where they say it
  bool listens = false;                        ///< every subscriber, client and server has a thread that calls back
  bool request_reply = false;                  ///< it has clients and servers
  bool protects = false;                       ///< it tells what protects a trial with security
};

template <class A>
[[nodiscard]] consteval bool listens() {
  if constexpr (HasRequestReply<A>) {
    using Client = decltype(std::declval<A&>().client(std::declval<const Topic&>(), 0U));
    using Server = decltype(std::declval<A&>().server(std::declval<const Topic&>(), 0U));
    return Listens<SubscriberOf<A>> && Listens<Client> && Listens<Server>;
  }
  return Listens<SubscriberOf<A>>;
}

/// Speaks docs/protocol.md. Returns the exit code: 0 after `quit`, 1 after an error it has reported, 2 for wrong arguments, 3 when
/// the launcher went away.
int worker_main(int argc, char** argv, const WorkerParts& parts);

template <class A>
[[nodiscard]] WorkerParts parts_of() {
  static_assert(fulfils_contract<A>);
  WorkerParts parts;
  if constexpr (Adapter<A>) {
    parts.describe = &A::describe;
    if constexpr (HasCompanions<A>) parts.companions = &A::companions;
    if constexpr (HasCheck<A>) parts.check = &A::check;
    parts.open = [](const Configuration& configuration, const Clock& clock) -> std::unique_ptr<Session> {
      return std::make_unique<AdapterSession<A>>(configuration, clock);
    };
    if constexpr (BoundsTake<SubscriberOf<A>>) parts.most_per_take = SubscriberOf<A>::most_per_take;
    parts.listens = listens<A>();
    parts.request_reply = HasRequestReply<A>;
    parts.protects = TellsProtection<A>;
  }
  return parts;
}

template <class A>
int run_worker(int argc, char** argv) {
  return worker_main(argc, argv, parts_of<A>());
}

/// Of two adapters: that of `safe` describes them, and has the trials with security, so that these cost the others of `A` nothing.
/// Compile it in a file of its own: beside another the compiler makes another code of `A`.
template <class A>
int run_worker(int argc, char** argv, WorkerParts safe) {
  safe.open = [plain = parts_of<A>().open, open = safe.open](const Configuration& configuration, const Clock& clock) {
    return (configuration.settings.security == Security::none ? plain : open)(configuration, clock);
  };
  return worker_main(argc, argv, safe);
}

}  // namespace middlemark
