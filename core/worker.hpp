// An executable out of an adapter: `int main(int argc, char** argv) { return middlemark::run_worker<X>(argc, argv); }`.
#pragma once

#include <functional>
#include <memory>

#include <middlemark/adapter.hpp>
#include <middlemark/session.hpp>

namespace middlemark {

/// What run_worker needs of an adapter; the rest of the worker is compiled once.
struct WorkerParts {
  std::function<Description()> describe;
  std::function<std::vector<Companion>(const Settings&)> companions;  ///< empty: the adapter has none
  std::function<std::unique_ptr<Session>(const Configuration&, const Clock&)> open;
};

/// Speaks docs/protocol.md. Returns the exit code: 0 after `quit`, 1 after an error it has reported, 2 for wrong arguments, 3 when
/// the launcher went away.
int worker_main(int argc, char** argv, const WorkerParts& parts);

template <Adapter A>
int run_worker(int argc, char** argv) {
  WorkerParts parts;
  parts.describe = &A::describe;
  if constexpr (HasCompanions<A>) parts.companions = &A::companions;
  parts.open = [](const Configuration& configuration, const Clock& clock) -> std::unique_ptr<Session> {
    return std::make_unique<AdapterSession<A>>(configuration, clock);
  };
  return worker_main(argc, argv, parts);
}

}  // namespace middlemark
