// Reads the counts of a worker's roles and the resources that its process has used so far, for the launcher.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include <middlemark/protocol.hpp>
#include <middlemark/resources.hpp>
#include <middlemark/roles/latencies.hpp>
#include <middlemark/session.hpp>

namespace middlemark {

class AccountReader {  // used by the control thread only
 public:
  /// Returns the roles' counts and the resources used so far. Counts::blocked_ns is the time blocked since the first
  /// call that found the role measuring. If the session's configuration asks for latencies, returns those since the
  /// previous call.
  [[nodiscard]] Account read(const Session& session);

 private:
  struct Begin {
    std::uint64_t at_ns = 0;
    ThreadUse use;
    std::uint64_t sleeping_ns = 0;
  };

  [[nodiscard]] Counts counts(const Role& role, const Resources& resources, std::uint64_t now_ns);
  [[nodiscard]] std::optional<std::uint64_t> blocked_ns(const Role& role, const Resources& resources,
                                                        std::uint64_t now_ns);

  ResourceReader reader_;
  std::map<int, Begin> begins_;  // by thread id
  std::map<const Role*, NewLatencies> latencies_;
};

}  // namespace middlemark
