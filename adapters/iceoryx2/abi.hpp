// The C interface of rust/: iceoryx2 has no header of its own here, its crate is linked in.
//
// Objects belong to the caller and go back through their _drop; the trial last. Each is used by one thread at a time, with
// one exception: while a server visits a request, its loan and publish are called. What cannot be made is null, with the
// reason in the error. Failures of a loan, a publish or a take are kept as text.
#pragma once

#include <cstddef>
#include <cstdint>

namespace middlemark::iceoryx2 {

extern "C" {

struct Trial;
struct PublisherPort;
struct SubscriberPort;
struct ClientPort;
struct ServerPort;

struct Rules {
  const char* scope;
  const char* scratch;
  std::uint64_t write_timeout_ns;
  std::size_t nodes;      ///< processes of the trial
  std::size_t buffer;     ///< messages that a receiver's buffer holds of each sender
  std::size_t alignment;  ///< of payloads; 0: the library's default
  bool reliable;
  bool overflows;  ///< a full buffer loses its oldest message
  bool blocks;     ///< receivers sleep, and messages are followed by a notification
  bool loans;
};

struct Ends {
  const char* name;
  std::size_t bytes;
  std::size_t publishers;
  std::size_t subscribers;
};

struct ErrorText {
  char* text;
  std::size_t capacity;
};

enum class Sent : int { ok, timed_out, failed };

using Visit = void (*)(void* visitor, const std::byte* bytes, std::size_t count);

void mm_iox2_version(char* text, std::size_t capacity);
Trial* mm_iox2_open(const Rules* rules, const ErrorText* error);
void mm_iox2_close(Trial* trial);

PublisherPort* mm_iox2_publisher(Trial* trial, const Ends* ends, std::uint32_t index, const ErrorText* error);
void mm_iox2_publisher_drop(PublisherPort* port);
std::byte* mm_iox2_publisher_loan(PublisherPort* port);
Sent mm_iox2_publisher_publish(PublisherPort* port);
std::size_t mm_iox2_publisher_matched(PublisherPort* port);
std::size_t mm_iox2_publisher_failure(PublisherPort* port, char* text, std::size_t capacity);

SubscriberPort* mm_iox2_subscriber(Trial* trial, const Ends* ends, std::uint32_t index, const ErrorText* error);
void mm_iox2_subscriber_drop(SubscriberPort* port);
std::size_t mm_iox2_subscriber_take(SubscriberPort* port, std::size_t most, void* visitor, Visit visit);
bool mm_iox2_subscriber_wait(SubscriberPort* port, std::uint64_t timeout_ns);
std::size_t mm_iox2_subscriber_publishers(SubscriberPort* port);
std::size_t mm_iox2_subscriber_failure(SubscriberPort* port, char* text, std::size_t capacity);

ClientPort* mm_iox2_client(Trial* trial, const Ends* ends, std::uint32_t index, const ErrorText* error);
void mm_iox2_client_drop(ClientPort* port);
std::byte* mm_iox2_client_loan(ClientPort* port);
Sent mm_iox2_client_publish(ClientPort* port);
std::size_t mm_iox2_client_matched(ClientPort* port);
std::size_t mm_iox2_client_failure(ClientPort* port, char* text, std::size_t capacity);
std::size_t mm_iox2_client_take(ClientPort* port, std::size_t most, void* visitor, Visit visit);
bool mm_iox2_client_wait(ClientPort* port, std::uint64_t timeout_ns);

ServerPort* mm_iox2_server(Trial* trial, const Ends* ends, std::uint32_t index, const ErrorText* error);
void mm_iox2_server_drop(ServerPort* port);
std::byte* mm_iox2_server_loan(ServerPort* port);
Sent mm_iox2_server_publish(ServerPort* port);
std::size_t mm_iox2_server_matched(ServerPort* port);
std::size_t mm_iox2_server_failure(ServerPort* port, char* text, std::size_t capacity);
std::size_t mm_iox2_server_take(ServerPort* port, std::size_t most, void* visitor, Visit visit);
bool mm_iox2_server_wait(ServerPort* port, std::uint64_t timeout_ns);
std::size_t mm_iox2_server_receive_failure(ServerPort* port, char* text, std::size_t capacity);
}

}  // namespace middlemark::iceoryx2
