// Tests request/reply in one process: native, and over two topics if the adapter has no native request/reply.
#include <middlemark/session.hpp>

#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "null/adapter.hpp"
#include "shm/adapter.hpp"
#include "support/stream.hpp"

namespace middlemark::calls_test {
namespace {

using test::calibrated_clock;
using test::Results;
using test::TemporaryFolder;
using test::trial_settings;

Configuration calls(Settings settings, unsigned clients, const TemporaryFolder& folder) {
  settings.pattern = Pattern::request_reply;
  settings.publishers = clients;
  settings.workers = 1;
  Configuration made;
  made.settings = settings;
  made.roles.emplace_back(ServerRequest{});
  for (unsigned i = 0; i < clients; ++i) {
    auto client = test::samples_request<ClientRequest>(200);
    client.index = i;
    client.samples_path = folder / ("client-" + std::to_string(i) + ".npy");
    made.roles.emplace_back(client);
  }
  return made;
}

template <Adapter A>
Results call(const Settings& settings, unsigned clients) {
  const TemporaryFolder folder;
  AdapterSession<A> session(calls(settings, clients, folder), calibrated_clock());
  return test::run_to_the_end(session);
}

void expect_every_request_answered_once(const Results& results, unsigned clients, bool native) {
  ASSERT_EQ(results.clients.size(), clients);
  ASSERT_EQ(results.servers.size(), 1U);
  for (const ClientResult& client : results.clients) {
    EXPECT_EQ(client.ended, Ended::samples);
    EXPECT_EQ(client.sent, 200U);
    EXPECT_EQ(client.samples, 200U);
    EXPECT_EQ(client.lost + client.late + client.duplicated + client.reordered + client.damaged, 0U)
        << "client " << client.index;
    EXPECT_EQ(client.native, native);
  }
  const ServerResult& server = results.servers[0];
  EXPECT_EQ(server.received, 200U * clients);
  EXPECT_EQ(server.echoed, 200U * clients);
  EXPECT_EQ(server.damaged + server.duplicated + server.publish_failed, 0U);
  EXPECT_EQ(server.native, native);
}

class Calls : public testing::TestWithParam<std::tuple<Reception, unsigned>> {};

TEST_P(Calls, over_two_topics_return_each_clients_own_replies) {
  const auto [reception, clients] = GetParam();
  expect_every_request_answered_once(call<SharedMemory>(trial_settings(reception), clients), clients, false);
}

TEST_P(Calls, that_are_native_are_answered_one_by_one) {
  const auto [reception, clients] = GetParam();
  Settings settings = trial_settings(reception);
  settings.transport = "memory";
  expect_every_request_answered_once(call<Null>(settings, clients), clients, true);
}

// Leaves out polling: with more roles than processors, each reply would wait until the scheduler's time slice ends.
INSTANTIATE_TEST_SUITE_P(Clients, Calls,
                         testing::Values(std::tuple{Reception::poll, 1U}, std::tuple{Reception::block, 1U},
                                         std::tuple{Reception::block, 3U}));

}  // namespace
}  // namespace middlemark::calls_test
