// Turns an adapter into an executable:
//
//   int main(int argc, char** argv) { return middlemark::run_worker<X>(argc, argv); }
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/session.hpp>

namespace middlemark {

/// The parts of a worker that depend on the adapter. The rest of the worker is compiled once for all adapters.
struct WorkerParts {
  std::function<Description()> describe;
  std::function<std::vector<Companion>(const Settings&)> companions;  ///< empty: the adapter has none
  std::function<void(const std::string&)> run_companion;              ///< empty: the adapter has none
  std::function<void(const Settings&)> check;                         ///< empty: the adapter has none
  std::function<std::unique_ptr<Session>(const Configuration&, const Clock&)> open;
  std::optional<std::size_t> most_per_take{};  ///< the bound of the adapter's subscribers: see BoundsTake
  bool listens = false;                        ///< every subscriber, client and server can listen
  bool request_reply = false;                  ///< the adapter has clients and servers
  bool protects = false;                       ///< the adapter has protected_by()
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

/// Runs the worker as docs/reference/protocol.md describes. Returns the exit code: 0 after `quit`, 1 after an error that it has
/// reported, 2 for wrong arguments, 3 if the launcher has gone away.
int worker_main(int argc, char** argv, const WorkerParts& parts);

template <class A>
[[nodiscard]] WorkerParts parts_of() {
  static_assert(fulfils_contract<A>);
  WorkerParts parts;
  if constexpr (Adapter<A>) {
    parts.describe = &A::describe;
    if constexpr (HasCompanions<A>) parts.companions = &A::companions;
    if constexpr (HasOwnCompanion<A>) parts.run_companion = &A::run_companion;
    if constexpr (HasCheck<A>) parts.check = &A::check;
    parts.open = [](const Configuration& configuration, const Clock& clock) -> std::unique_ptr<Session> {
      return std::make_unique<AdapterSession<A>>(configuration, clock);
    };
    if constexpr (BoundsTake<SubscriberOf<A>>) parts.most_per_take = SubscriberOf<A>::most_per_take;
    parts.listens = listens<A>();
    parts.request_reply = HasRequestReply<A>;
    parts.protects = ReportsProtection<A>;
  }
  return parts;
}

template <class A>
int run_worker(int argc, char** argv) {
  return worker_main(argc, argv, parts_of<A>());
}

/// Runs two adapters in one worker: `safe` runs the trials with security and `A` all other trials, so that support for
/// security does not slow these down. `safe` describes the worker's two adapters. Call this function in a source file of
/// its own, because the compiler generates different code for `A` if the file contains other code.
template <class A>
int run_worker(int argc, char** argv, WorkerParts safe) {
  safe.open = [plain = parts_of<A>().open, open = safe.open](const Configuration& configuration, const Clock& clock) {
    return (configuration.settings.security == Security::none ? plain : open)(configuration, clock);
  };
  return worker_main(argc, argv, safe);
}

}  // namespace middlemark
