#include "protocol/names.hpp"
#include "protocol/status.hpp"

#include <millrace/pubsub.hpp>

namespace millrace::pubsub::detail {
namespace {

TEST(resource_names, short_ids_get_the_project_and_full_names_stay) {
  EXPECT_EQ(full_name(resource::topic, "my-project", "orders").value(), "projects/my-project/topics/orders");
  EXPECT_EQ(full_name(resource::subscription, "my-project", "projects/other-one/subscriptions/orders").value(),
            "projects/other-one/subscriptions/orders");
  EXPECT_EQ(full_name(resource::topic, "example.com:my-project", "orders").value(),
            "projects/example.com:my-project/topics/orders");
}

TEST(resource_names, what_the_service_would_refuse_is_refused_and_named) {
  for (const char* name :
       {"", "ab", "1abc", "google", "with space", "projects/p/topics", "projects/my-project/queues/a",
        "projects/my-project/subscriptions/orders", "projects/My/topics/orders"}) {
    const auto refused = full_name(resource::topic, "my-project", name);
    ASSERT_FALSE(refused) << name;
    EXPECT_TRUE(refused.error().context().contains(name)) << refused.error().context();
  }
  EXPECT_FALSE(full_name(resource::topic, "my-project", std::string(256, 'a')));
  for (const char* project : {"short", "-project", "Project-a", "project-", "a-project-id-of-more-than-thirty"})
    EXPECT_FALSE(full_name(resource::topic, project, "orders")) << project;
}

// describe() is for logs.
TEST(endpoints, only_host_and_port_are_left) {
  EXPECT_EQ(host_of("http://u:p@ss@h:1"), "h:1");
  EXPECT_EQ(host_of("https://h/a@b"), "h");
  EXPECT_EQ(host_of("https://h/v1?x"), "h");
  EXPECT_EQ(host_of("[::1]:8085"), "[::1]:8085");
  broker b("test-project");
  EXPECT_EQ(b.endpoint("https://user:secret@eu.example:443/v1").describe(), "eu.example:443");
  EXPECT_EQ(b.emulator("localhost:8085").describe(), "localhost:8085");
}

TEST(errors, every_kind_maps_to_a_common_condition) {
  const auto is = [](pubsub::errc e, millrace::errc common) { return error(make_error_code(e), "x") == common; };
  EXPECT_TRUE(is(pubsub::errc::connect, millrace::errc::connect));
  EXPECT_TRUE(is(pubsub::errc::admin, millrace::errc::subscribe));
  EXPECT_TRUE(is(pubsub::errc::receive, millrace::errc::subscribe));
  EXPECT_TRUE(is(pubsub::errc::publish, millrace::errc::publish));
  EXPECT_TRUE(is(pubsub::errc::not_connected, millrace::errc::closed));
  EXPECT_TRUE(is(pubsub::errc::not_connected, millrace::errc::not_connected));
  EXPECT_TRUE(is(pubsub::errc::invalid_descriptor, millrace::errc::invalid_options));
  EXPECT_TRUE(is(pubsub::errc::delay_beyond_lease, millrace::errc::invalid_options));
  EXPECT_TRUE(is(pubsub::errc::queue_full, millrace::errc::queue_full));
  EXPECT_TRUE(is(pubsub::errc::shutdown, millrace::errc::shutdown));
  EXPECT_FALSE(is(pubsub::errc::publish, millrace::errc::closed));
}

TEST(statuses, permanent_ones_are_not_tried_again) {
  for (const auto code : {status_code::not_found, status_code::permission_denied, status_code::invalid_argument,
                          status_code::failed_precondition, status_code::unauthenticated, status_code::unimplemented}) {
    EXPECT_FALSE(reopens_stream(code)) << name_of(code);
    EXPECT_FALSE(retries_publish(code)) << name_of(code);
    EXPECT_FALSE(retries_admin(code)) << name_of(code);
  }
  for (const auto code : {status_code::ok, status_code::cancelled, status_code::unavailable, status_code::internal,
                          status_code::deadline_exceeded, status_code::resource_exhausted, status_code::aborted})
    EXPECT_TRUE(reopens_stream(code)) << name_of(code);
}

} // namespace
} // namespace millrace::pubsub::detail
