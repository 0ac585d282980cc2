// A client and a service of middlemark_interfaces/srv/Bytes that fulfil the adapter's contract.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <middlemark/adapter.hpp>
#include <middlemark_interfaces/srv/bytes.hpp>
#include <rclcpp/rclcpp.hpp>

#include "listening.hpp"
#include "node.hpp"

namespace middlemark::ros2 {

using Bytes = middlemark_interfaces::srv::Bytes;

class Client : public Receiver {
 public:
  Client(std::shared_ptr<rclcpp::Node> node, const Topic& service, Reception reception, std::string executor)
      : Receiver(node, reception, std::move(executor)), listens_(reception == Reception::listen) {
    client_ = node->create_client<Bytes>("/" + service.name);
    request_->data.resize(service.message_bytes);
    reply_.data.reserve(service.message_bytes);
    if (wait_set_) wait_set_->add_client(client_);
  }
  ~Client() { silence(); }

  [[nodiscard]] std::span<std::byte> loan(std::size_t /*bytes*/) noexcept {
    return std::as_writable_bytes(std::span(request_->data));
  }

  [[nodiscard]] Published publish() noexcept {
    const bool sent = attempt("rclcpp::Client::async_send_request", [this] {
      if (!listens_) return static_cast<void>(client_->async_send_request(request_));
      client_->async_send_request(request_, [inlet = inlet_](rclcpp::Client<Bytes>::SharedFuture reply) {
        (*inlet)(std::as_bytes(std::span(reply.get()->data)));
      });
    });
    return sent ? Published::ok : Published::failed;
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    std::size_t visits = 0;
    attempt("rclcpp::Client::take_response", [&] {
      for (; client_->take_response(reply_, header_); ++visits) {
        client_->remove_pending_request(header_.sequence_number);  // drops the request's promise, which is not used
        visitor(std::as_bytes(std::span(std::as_const(reply_.data))));
      }
    });
    return visits;
  }

  [[nodiscard]] std::size_t matched() { return client_->service_is_ready() ? 1 : 0; }

 private:
  bool listens_;
  std::shared_ptr<rclcpp::Client<Bytes>> client_;
  std::shared_ptr<Bytes::Request> request_ = std::make_shared<Bytes::Request>();
  Bytes::Response reply_;
  rmw_request_id_t header_{};
};

class Server : public Receiver {
 public:
  Server(std::shared_ptr<rclcpp::Node> node, const Topic& service, Reception reception, std::string executor)
      : Receiver(node, reception, std::move(executor)),
        node_(std::move(node)),
        name_("/" + service.name),
        clients_(service.publishers) {
    service_ = node_->create_service<Bytes>(
        name_, [this](std::shared_ptr<rmw_request_id_t> header, std::shared_ptr<Bytes::Request> request) {
          header_ = *header;
          (*inlet_)(std::as_bytes(std::span(request->data)));
        });
    request_.data.reserve(service.message_bytes);
    reply_.data.resize(service.message_bytes);
    if (wait_set_) wait_set_->add_service(service_);
  }
  ~Server() { silence(); }

  [[nodiscard]] std::span<std::byte> loan(std::size_t /*bytes*/) noexcept {
    return std::as_writable_bytes(std::span(reply_.data));
  }

  [[nodiscard]] Published publish() noexcept {
    const bool sent = attempt("rclcpp::Service::send_response", [this] { service_->send_response(header_, reply_); });
    return sent ? Published::ok : Published::failed;
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    std::size_t visits = 0;
    attempt("rclcpp::Service::take_request", [&] {
      for (; visits < most_per_take && service_->take_request(request_, header_); ++visits) {
        visitor(std::as_bytes(std::span(std::as_const(request_.data))));
      }
    });
    return visits;
  }

  [[nodiscard]] std::size_t matched() { return clients_found(*node_); }

 private:
  /// Returns the number of clients found. Releases before Jazzy cannot count them, so it returns the expected number
  /// there. The start is still safe, because each client waits until it has found the service.
  template <class Node>
  [[nodiscard]] std::size_t clients_found(Node& node) const {
    if constexpr (requires { node.count_clients(name_); }) {
      return std::min<std::size_t>(node.count_clients(name_), clients_);
    } else {
      return clients_;
    }
  }

  std::shared_ptr<rclcpp::Node> node_;
  std::string name_;
  std::size_t clients_;
  std::shared_ptr<rclcpp::Service<Bytes>> service_;
  Bytes::Request request_;
  Bytes::Response reply_;
  rmw_request_id_t header_{};
};

}  // namespace middlemark::ros2
