// The native settings, and the arguments that the adapter passes to gRPC for a trial's settings.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <optional>
#include <string>

#include <middlemark/kit/applied.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::rpc {

/// The bytes that protobuf adds to the data of a Payload: the field's tag, and the length.
inline constexpr std::size_t wrapping_bytes = 6;
/// The size of the largest message that gRPC receives by default.
inline constexpr std::size_t usual_receive_bytes = std::size_t{4} << 20;

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  bool bdp_probe =
      key("bdp_probe", true,
          {.help = "`grpc.http2.bdp_probe`: the receiver's HTTP/2 windows grow with the bandwidth that it measures"});
  std::optional<int> lookahead =
      key<int>("lookahead", {.help = "`grpc.http2.lookahead_bytes`: bytes that a stream may send "
                                     "before its receiver requests more",
                             .least = 5,
                             .most = 2'147'483'647,
                             .otherwise = "gRPC's default: 65535 at first",
                             .type = NativeType::bytes});
  std::optional<int> max_frame =
      key<int>("max_frame", {.help = "`grpc.http2.max_frame_size`: size of HTTP/2's DATA frames",
                             .least = 16'384,
                             .most = 16'777'215,
                             .otherwise = "gRPC's default: 16384, more after measuring the bandwidth",
                             .type = NativeType::bytes});
  std::optional<int> max_receive = key<int>("max_receive", {.help = "`grpc.max_receive_message_length`",
                                                            .least = 1,
                                                            .otherwise = "no limit; `default`: gRPC's 4 MiB",
                                                            .type = NativeType::bytes});
};

struct Options : Native {
  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("grpc", settings)), is_default_(settings.is_default_configuration()) {
    for (const Topic& topic : settings.endpoints) {
      if (!max_receive || topic.message_bytes + wrapping_bytes <= static_cast<std::size_t>(*max_receive)) continue;
      throw AdapterError("grpc: native.max_receive = " + std::to_string(*max_receive) + " is less than a message of " +
                             std::to_string(topic.message_bytes) + " bytes",
                         "leave out max_receive, so that there is no limit");
    }
  }

  [[nodiscard]] grpc::ChannelArguments channel() const {
    grpc::ChannelArguments all;
    apply([&all](const char* key, int value) { all.SetInt(key, value); });
    all.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // ignore http_proxy in the environment
    return all;
  }
  [[nodiscard]] OwnSettings own_settings() const {
    kit::AppliedCode code;
    kit::CodeBlock& channel = code.begin("channel");
    kit::CodeBlock& server = code.begin("server");
    apply([&](const char* key, int value) {
      const std::string quoted = '"' + std::string(key) + '"';
      channel.call("arguments.SetInt", quoted, value);
      server.call("builder.AddChannelArgument", quoted, value);
    });
    return code.settings(Language::cpp);
  }
  void build(grpc::ServerBuilder& server) const {
    apply([&server](const char* key, int value) { server.AddChannelArgument(key, value); });
  }

 private:
  template <class Set>
  void apply(Set&& set) const {
    if (max_receive || !is_default_) set(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, max_receive.value_or(-1));
    if (!bdp_probe) set(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    if (lookahead) set(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, *lookahead);
    if (max_frame) set(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, *max_frame);
  }

  bool is_default_;
};

}  // namespace middlemark::rpc
