// Sends what a batch holds when the datagram does not fill: Cyclone DDS itself keeps it until the next write.
#pragma once

#include <dds/dds.h>
#include <pthread.h>

#include <chrono>
#include <stop_token>
#include <thread>

namespace middlemark::cyclonedds {

/// A thread that flushes `writer` every `after`. A flush of nothing is a lock and no datagram.
class Flusher {
 public:
  Flusher(dds_entity_t writer, std::chrono::nanoseconds after)
      : thread_([writer, after](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            std::this_thread::sleep_for(after);
            dds_write_flush(writer);
          }
        }) {
    pthread_setname_np(thread_.native_handle(), "flush");
  }

 private:
  std::jthread thread_;
};

}  // namespace middlemark::cyclonedds
