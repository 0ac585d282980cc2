// A data writer: what a write came to, who has found it, and what happens to a batch that does not fill.
#pragma once

#include <dds/dds.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <middlemark/adapter.hpp>

#include "entity.hpp"
#include "flusher.hpp"
#include "native.hpp"

namespace middlemark::cyclonedds {

/// Readers of its topic that a writer has found.
[[nodiscard]] inline std::size_t readers_found(const Entity& writer) {
  dds_publication_matched_status_t status{};
  checked(dds_get_publication_matched_status(writer.get(), &status), "dds_get_publication_matched_status");
  return status.current_count;
}

class Writer {
 public:
  Writer(Entity writer, const Native& native) : writer_(std::move(writer)) {
    if (native.batches()) flusher_.emplace(writer_.get(), native.flush_after());
  }

  [[nodiscard]] Published write(const void* sample) noexcept {
    const dds_return_t code = dds_write(writer_.get(), sample);
    if (code == DDS_RETCODE_OK) return Published::ok;
    failure_.note("dds_write", code);
    return code == DDS_RETCODE_TIMEOUT ? Published::timed_out : Published::failed;
  }

  [[nodiscard]] dds_entity_t get() const noexcept { return writer_.get(); }
  [[nodiscard]] std::size_t matched() const { return readers_found(writer_); }
  [[nodiscard]] LastFailure& failure() noexcept { return failure_; }
  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  Entity writer_;
  LastFailure failure_;
  std::optional<Flusher> flusher_;
};

}  // namespace middlemark::cyclonedds
