// A client and a service of middlemark_interfaces/srv/Bytes that fulfil the adapter's contract.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/take.hpp>
#include <middlemark_interfaces/srv/bytes.h>
#include <rcl/graph.h>
#include <rcl/rcl.h>
#if __has_include(<rcl/version.h>)
#include <rcl/version.h>
#endif

#include "node.hpp"
#include "types.hpp"

namespace middlemark::rcl {

/// A request or a reply of middlemark_interfaces/srv/Bytes.
template <class Struct, auto init, auto fini>
struct Part : Struct, kit::Pinned {
  explicit Part(std::size_t bytes) {
    if (!init(this)) throw std::bad_alloc();
    CFields::resize(this->data, bytes);
    capacity = bytes;
  }
  ~Part() { fini(this); }

  [[nodiscard]] std::span<std::byte> array() noexcept { return std::as_writable_bytes(CFields::elements(this->data)); }
  [[nodiscard]] std::span<std::byte> array(std::size_t bytes) noexcept {
    this->data.size = std::min(bytes, capacity);
    return array();
  }

  std::size_t capacity;
};
using Request = Part<middlemark_interfaces__srv__Bytes_Request, &middlemark_interfaces__srv__Bytes_Request__init,
                     &middlemark_interfaces__srv__Bytes_Request__fini>;
using Reply = Part<middlemark_interfaces__srv__Bytes_Response, &middlemark_interfaces__srv__Bytes_Response__init,
                   &middlemark_interfaces__srv__Bytes_Response__fini>;

[[nodiscard]] inline const rosidl_service_type_support_t* service_support() {
  return ROSIDL_GET_SRV_TYPE_SUPPORT(middlemark_interfaces, srv, Bytes);
}

class Client : kit::Pinned {
 public:
  static constexpr std::size_t most_per_take = 1024;

  Client(Node& node, const Topic& service)
      : node_(node), waiting_(node, {.clients = 1}), request_(service.message_bytes), reply_(0) {
    const rcl_client_options_t options = rcl_client_get_default_options();
    check(rcl_client_init(&client_, node.get(), service_support(), ("/" + service.name).c_str(), &options),
          "the client of " + service.name);
  }
  ~Client() { released(rcl_client_fini(&client_, node_.get())); }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept { return request_.array(bytes); }

  [[nodiscard]] Published publish() noexcept {
    const rcl_ret_t code = rcl_send_request(&client_, &request_, &sequence_);
    return succeeded(code, "rcl_send_request", failure_) ? Published::ok : Published::failed;
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return kit::take_up_to<most_per_take>(
        [this]() noexcept {
          const rcl_ret_t code = rcl_take_response(&client_, &header_, &reply_);
          return succeeded(code, "rcl_take_response", failure_, RCL_RET_CLIENT_TAKE_FAILED);
        },
        [&](bool /*taken*/) { visitor(std::as_bytes(reply_.array())); });
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    return waiting_.wait(client_, timeout, failure_);
  }

  [[nodiscard]] std::size_t matched() {
    bool found = false;
    check(rcl_service_server_is_available(node_.get(), &client_, &found), "rcl_service_server_is_available");
    return found ? 1 : 0;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  Node& node_;
  Waiting<&rcl_wait_set_add_client> waiting_;
  Request request_;
  Reply reply_;
  rcl_client_t client_ = rcl_get_zero_initialized_client();
  rmw_request_id_t header_{};
  std::int64_t sequence_ = 0;
  LastFailure failure_;
};

class Server : kit::Pinned {
 public:
  static constexpr std::size_t most_per_take = 1024;

  Server(Node& node, const Topic& service)
      : node_(node),
        waiting_(node, {.services = 1}),
        name_("/" + service.name),
        clients_(service.publishers),
        request_(0),
        reply_(service.message_bytes) {
    const rcl_service_options_t options = rcl_service_get_default_options();
    check(rcl_service_init(&service_, node.get(), service_support(), name_.c_str(), &options),
          "the service " + service.name);
  }
  ~Server() { released(rcl_service_fini(&service_, node_.get())); }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept { return reply_.array(bytes); }

  [[nodiscard]] Published publish() noexcept {
    const rcl_ret_t code = rcl_send_response(&service_, &header_, &reply_);
    return succeeded(code, "rcl_send_response", failure_) ? Published::ok : Published::failed;
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return kit::take_up_to<most_per_take>(
        [this]() noexcept {
          const rcl_ret_t code = rcl_take_request(&service_, &header_, &request_);
          return succeeded(code, "rcl_take_request", failure_, RCL_RET_SERVICE_TAKE_FAILED);
        },
        [&](bool /*taken*/) { visitor(std::as_bytes(request_.array())); });
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    return waiting_.wait(service_, timeout, failure_);
  }

  /// Returns the number of clients found. Releases before Jazzy cannot count them, so it returns the expected number
  /// there. The start is still safe, because each client waits until it has found the service.
  [[nodiscard]] std::size_t matched() {
#if defined(RCL_VERSION_MAJOR) && RCL_VERSION_MAJOR >= 8
    std::size_t found = 0;
    check(rcl_count_clients(node_.get(), name_.c_str(), &found), "rcl_count_clients");
    return std::min(found, clients_);
#else
    return clients_;
#endif
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  Node& node_;
  Waiting<&rcl_wait_set_add_service> waiting_;
  const std::string name_;
  const std::size_t clients_;
  Request request_;
  Reply reply_;
  rcl_service_t service_ = rcl_get_zero_initialized_service();
  rmw_request_id_t header_{};
  LastFailure failure_;
};

}  // namespace middlemark::rcl
