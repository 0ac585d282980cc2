// What a worker's roles have counted and its process has used so far, as its launcher is told of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include <middlemark/protocol.hpp>
#include <middlemark/resources.hpp>
#include <middlemark/session.hpp>

namespace middlemark {

/// Used by the control thread alone.
class AccountReader {
 public:
  /// The first call while a role measures fixes what blocked times count from.
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
  std::map<int, Begin> begins_;  // by thread
};

}  // namespace middlemark
