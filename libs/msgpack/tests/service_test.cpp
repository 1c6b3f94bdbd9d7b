#include "support/codec_on_a_service.hpp"

#include <millrace/msgpack.hpp>

using on_a_service = millrace::test_support::codec_on_a_service<millrace::msgpack_codec>;

TEST(MsgpackService, a_scopes_codec_decodes_and_writes_the_reply) {
  on_a_service::a_scopes_codec_decodes_and_writes_the_reply("application/msgpack");
}

// core 2.20: the narrowest wins
TEST(MsgpackService, the_registration_goes_before_the_router_and_the_router_before_the_scope) {
  on_a_service::the_registration_goes_before_the_router_and_the_router_before_the_scope();
}

TEST(MsgpackService, a_registration_of_a_json_scope_may_name_it) {
  on_a_service::a_registration_of_a_json_scope_may_name_it();
}

TEST(MsgpackService, what_does_not_decode_follows_the_decode_policy) {
  on_a_service::what_does_not_decode_follows_the_decode_policy();
}
