#include <millrace/testing/test_broker.hpp>

#include "harness.hpp"

#include <utility>

namespace millrace::testing {

void test_broker::refuse(std::string_view destination, error why) {
  throw publish_failed(std::move(why).at("publish to '" + std::string(destination) + "'"));
}

result<receipt> test_broker::try_publish(std::string_view destination, bytes_view payload,
                                         const header_map& headers) const {
  return harness_->publish(index_, {destination, payload, headers.empty() ? nullptr : &headers});
}

receipt test_broker::publish_text(std::string_view destination, std::string_view payload,
                                  const header_map& headers) const {
  auto sent = try_publish(destination, as_bytes(payload), headers);
  if (!sent) throw publish_failed(std::move(sent).error());
  return std::move(*sent);
}

result<reply> test_broker::try_request(std::string_view destination, bytes_view payload, duration timeout,
                                       const header_map& headers) const {
  return harness_->request(index_, {destination, payload, headers.empty() ? nullptr : &headers}, timeout);
}

reply test_broker::request_text(std::string_view destination, std::string_view payload, duration timeout,
                                const header_map& headers) const {
  auto answer = try_request(destination, as_bytes(payload), timeout, headers);
  if (!answer) throw request_failed(std::move(answer).error());
  return std::move(*answer);
}

subscription_view test_broker::subscription(std::string_view name) const {
  return {harness_->record(), harness_->subscription(index_, name)};
}

published_view test_broker::published(std::string_view destination) const {
  return {harness_->record(), harness_->channel(index_, destination)};
}

} // namespace millrace::testing
