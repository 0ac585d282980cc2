// iceoryx's untyped publisher behind the contract's Publisher.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include <iceoryx_posh/popo/untyped_publisher.hpp>

#include <middlemark/adapter.hpp>

#include "lending.hpp"
#include "runtime.hpp"
#include "write_deadline.hpp"

namespace middlemark::iceoryx {

/// iceoryx's own port, asked one thing more: UntypedPublisher only tells whether there is any subscriber.
class PublisherPort : public iox::popo::PublisherPortUser {
 public:
  explicit PublisherPort(MemberType_t* data) noexcept : PublisherPortUser(data), data_(data) {}

  [[nodiscard]] std::size_t subscribers() const {
    const auto& sender = data_->m_chunkSenderData;
    const MemberType_t::ChunkDistributorData_t::LockGuard_t locked(sender);
    return sender.m_queues.size();
  }

 private:
  const MemberType_t* data_;
};

class Publisher {
 public:
  /// `patience`: how long a publish() may wait for a full queue; none: it never does.
  Publisher(const iox::capro::ServiceDescription& service, const iox::popo::PublisherOptions& options,
            const Topic& topic, std::uint32_t alignment, std::optional<std::chrono::nanoseconds> patience)
      : bytes_(topic.message_bytes), subscribers_(topic.subscribers), alignment_(alignment), end_(service, options) {
    if (!patience) return;
    patience_ = *patience;
    deadline_.emplace(*patience, [this] { end_.stopOffer(); });
  }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;
  ~Publisher() {
    if (lent_ != nullptr) end_.release(lent_);
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != bytes_) return {};
    return lent_chunk(lent_, bytes, failure_, [&] { return end_.loan(static_cast<std::uint32_t>(bytes), alignment_); });
  }

  [[nodiscard]] Published publish() noexcept {
    if (lent_ == nullptr) return Published::failed;
    if (!deadline_) {
      end_.publish(std::exchange(lent_, nullptr));
      return Published::ok;
    }
    if (withdrawn_ && !found_again()) return Published::timed_out;
    deadline_->begin();
    end_.publish(std::exchange(lent_, nullptr));
    if (!deadline_->end()) [[likely]]
      return Published::ok;
    withdrawn_ = true;
    failure_.note("publish", "a subscriber's queue stayed full");
    return Published::timed_out;
  }

  [[nodiscard]] std::size_t matched() { return end_.subscribers(); }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  class End : public iox::popo::UntypedPublisherImpl<iox::popo::BasePublisher<PublisherPort>> {
   public:
    using UntypedPublisherImpl::UntypedPublisherImpl;
    [[nodiscard]] std::size_t subscribers() const { return port().subscribers(); }
  };

  /// RouDi has let the subscribers of a withdrawn publisher go: what is sent before they are back would be lost.
  [[nodiscard]] bool found_again() noexcept {
    end_.offer();
    const auto end = std::chrono::steady_clock::now() + patience_;
    while (end_.subscribers() < subscribers_) {
      if (std::chrono::steady_clock::now() >= end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    withdrawn_ = false;
    return true;
  }

  std::size_t bytes_;
  std::size_t subscribers_;
  std::uint32_t alignment_;
  void* lent_ = nullptr;
  bool withdrawn_ = false;
  std::chrono::nanoseconds patience_{};
  LastFailure failure_;
  End end_;
  std::optional<WriteDeadline> deadline_;
};

}  // namespace middlemark::iceoryx
