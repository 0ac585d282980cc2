// The C ABI of rust/: zenoh itself has one for Rust only.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct MmzConfig;
struct MmzSession;
struct MmzSender;    ///< a publisher, a client's querier or a server's answers
struct MmzReceiver;  ///< a subscriber, a client's replies or a server's queryable

/// Where words are written to; cut to fit and always ended by a zero.
struct MmzText {
  char* data;
  std::size_t capacity;
};

struct MmzEndpoint {
  const char* topic;
  std::uint32_t index;
  std::size_t bytes;
  bool reliable;
  bool block;
  bool express;
  std::uint8_t priority;  ///< zenoh's: 1 (real time) to 7 (background)
  std::size_t capacity;   ///< of the channel, in messages
  bool ring;              ///< a full channel loses its oldest message; otherwise whoever delivers waits
  bool listen;
  std::uint64_t write_timeout_ns;
};

struct MmzVisitor {
  void (*visit)(void* context, const std::byte* data, std::size_t bytes);
  void* context;
};

void mmz_version(MmzText version);

MmzConfig* mmz_config_new();
/// False, with zenoh's own words, for a path or a value that zenoh refuses.
bool mmz_config_set(MmzConfig* config, const char* path, const char* json5, MmzText error);
void mmz_config_free(MmzConfig* config);

/// Whatever makes one gives null and the reason when it cannot. `shared`: nobody is matched over a link that has not
/// agreed on shared memory. `pool_bytes` 0: senders lend from the heap.
MmzSession* mmz_open(const MmzConfig* config, const char* scope, bool shared, std::size_t pool_bytes, MmzText error);
void mmz_close(MmzSession* session);
MmzSender* mmz_publisher(MmzSession* session, const MmzEndpoint* endpoint, MmzText error);
MmzReceiver* mmz_subscriber(MmzSession* session, const MmzEndpoint* endpoint, MmzText error);
MmzSender* mmz_client(MmzSession* session, const MmzEndpoint* endpoint, MmzReceiver** replies, MmzText error);
MmzSender* mmz_server(MmzSession* session, const MmzEndpoint* endpoint, MmzReceiver** requests, MmzText error);
void mmz_sender_free(MmzSender* sender);
void mmz_receiver_free(MmzReceiver* receiver);

/// What follows is the contract of core/adapter.hpp, one call for each of its operations.
std::byte* mmz_loan(MmzSender* sender);
bool mmz_send(MmzSender* sender);
std::size_t mmz_matched(const MmzSender* sender);
void mmz_error(const MmzSender* sender, MmzText error);
std::size_t mmz_take(MmzReceiver* receiver, MmzVisitor visitor);
bool mmz_wait(MmzReceiver* receiver, std::uint64_t timeout_ns);
void mmz_listen(MmzReceiver* receiver, MmzVisitor visitor);
void mmz_silence(MmzReceiver* receiver);
std::size_t mmz_publishers_found(const MmzReceiver* receiver);
}
