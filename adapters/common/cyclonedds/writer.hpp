// A data writer: the result of each write, the readers that it has found, and the flushing of incomplete batches.
#pragma once

#include <dds/dds.h>
#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <middlemark/adapter.hpp>

#include "entity.hpp"
#include "native.hpp"

namespace middlemark::cyclonedds {

/// Returns the number of readers of its topic that a writer has found.
[[nodiscard]] inline std::size_t readers_found(const Entity& writer) {
  dds_publication_matched_status_t status{};
  checked(dds_get_publication_matched_status(writer.get(), &status), "dds_get_publication_matched_status");
  return status.current_count;
}

/// A thread that flushes `writer` every `period`. Without it, Cyclone DDS would keep a batch that does not fill its
/// datagram until the next write. Flushing an empty batch takes a lock and sends nothing.
class Flusher {
 public:
  Flusher(dds_entity_t writer, std::chrono::nanoseconds period)
      : thread_([writer, period](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            std::this_thread::sleep_for(period);
            dds_write_flush(writer);
          }
        }) {
    pthread_setname_np(thread_.native_handle(), "flush");
  }

 private:
  std::jthread thread_;
};

class Writer {
 public:
  Writer(Entity writer, const Native& native) : writer_(std::move(writer)) {
    if (native.batches()) flusher_.emplace(writer_.get(), native.flush_after.value_or(std::chrono::milliseconds(1)));
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
