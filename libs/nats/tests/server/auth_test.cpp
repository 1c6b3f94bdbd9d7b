#include "admin.hpp"
#include "client.hpp"
#include "nats_server.hpp"
#include "poll.hpp"
#include "support/tcp_relay.hpp"
#include "test_keys.hpp"

#include <millrace/log.hpp>

#include <cstdlib>
#include <mutex>

namespace millrace::nats::test {
namespace {

class nats_auth : public ::testing::Test {
 protected:
  result<connected_broker> try_connect(const nats_server& server, connect_options options = {}) {
    broker b(server.url());
    b.with_options(std::move(options));
    return run(std::move(b).connect(rt_));
  }
  void expect_works(connected_broker b, const std::string& name = "auth") {
    collecting_sink sink;
    const auto s = open(b, subject(name), sink);
    const auto port = value_of(b.pair(publish{}));
    EXPECT_TRUE(send(rt_, *port, name, "x"));
    EXPECT_TRUE(sink.wait_for(1));
    run(s->stop());
    EXPECT_TRUE(run(std::move(b).shutdown()));
  }
  pool_runtime rt_{2};
};

// N2, nats 12.4: wrong credentials are a Connect error that shows no secret.
TEST_F(nats_auth, N2_user_and_password) {
  const nats_server server("authorization { users = [ {user: app, password: s3cret} ] }");
  expect_works(value_of(try_connect(server, connect_options().user("app", "s3cret"))));
  expect_works(connect(rt_, "nats://app:s3cret@" + server.host_port()));
  const auto wrong = try_connect(server, connect_options().user("app", "wr0ng"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error(), millrace::errc::connect);
  EXPECT_EQ(wrong.error().message().find("wr0ng"), std::string::npos);
  EXPECT_FALSE(try_connect(server));
}

TEST_F(nats_auth, token) {
  const nats_server server("authorization { token: t0ken }");
  expect_works(value_of(try_connect(server, connect_options().token("t0ken"))));
  EXPECT_FALSE(try_connect(server, connect_options().token("other")));
}

TEST_F(nats_auth, nkey_as_text_and_as_file) {
  const nats_server server(std::string("authorization { users = [ {nkey: ") + keys::user_id + "} ] }");
  expect_works(value_of(try_connect(server, connect_options().nkey(keys::user_id, keys::user_seed))));
  const auto file = server.directory() / "user.nk";
  std::ofstream(file) << keys::user_seed << '\n';
  expect_works(value_of(try_connect(server, connect_options().nkey_file(keys::user_id, file.string()))));
  const auto missing = try_connect(server, connect_options().nkey_file(keys::user_id, "/nowhere/user.nk"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), make_error_code(errc::invalid_options));
  EXPECT_NE(missing.error().message().find("nkey_file"), std::string::npos);
  EXPECT_FALSE(try_connect(server));
}

TEST_F(nats_auth, credentials_file) {
  const nats_server server(operator_mode(), false);
  const auto file = server.directory() / "user.creds";
  std::ofstream(file) << credentials(keys::user_jwt);
  expect_works(value_of(try_connect(server, connect_options().credentials_file(file.string()))));
  EXPECT_FALSE(try_connect(server));
  const auto missing = try_connect(server, connect_options().credentials_file("/nowhere/user.creds"));
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message().find("credentials_file"), std::string::npos);
}

// nats.c before 3.8 does not send a signature that begins with a zero byte: those of this challenge, and one in 256.
constexpr std::string_view unlucky_challenge = "7Trfdv2Rz13IbV2";

/// The first line of a server, with that challenge in place of its own.
test_support::tcp_relay::filter challenging() {
  return [line = std::string(), done = false](test_support::way way, std::string& bytes) mutable {
    if (done || way == test_support::way::to_server) return;
    line += std::exchange(bytes, "");
    done = line.contains('\n');
    if (!done) return;
    constexpr std::string_view key = "\"nonce\":\"";
    const std::size_t at = line.find(key);
    if (at != std::string::npos) line.replace(at + key.size(), unlucky_challenge.size(), unlucky_challenge);
    bytes = std::move(line);
  };
}

TEST_F(nats_auth, a_signature_that_begins_with_zero_is_no_refusal) {
  const nats_server server(std::string("authorization { users = [ {nkey: ") + keys::user_id + "} ] }");
  const auto first_only = [asked = false](auto& /*through*/) mutable {
    return std::exchange(asked, true) ? test_support::tcp_relay::filter() : challenging();
  };
  const test_support::tcp_relay between(server.port(), {.made = first_only});
  expect_works(connect(rt_, "nats://" + between.address(), connect_options().nkey(keys::user_id, keys::user_seed)));
}

TEST_F(nats_auth, keys_at_a_server_that_does_not_challenge) {
  const nats_server server;
  expect_works(value_of(try_connect(server, connect_options().nkey(keys::user_id, keys::user_seed))));
}

TEST_F(nats_auth, a_key_file_without_its_key_is_refused_by_name) {
  const nats_server server;
  const auto file = server.directory() / "user.creds";
  std::ofstream(file) << seed_file();
  const auto no_jwt = try_connect(server, connect_options().credentials_file(file.string()));
  ASSERT_FALSE(no_jwt);
  EXPECT_EQ(no_jwt.error(), make_error_code(errc::invalid_options));
  EXPECT_NE(no_jwt.error().message().find("credentials_file: no user JWT"), std::string::npos)
      << no_jwt.error().message();
  EXPECT_EQ(no_jwt.error().message().find(keys::user_seed), std::string::npos);
}

TEST_F(nats_auth, contradictory_options_are_refused_by_name) {
  const nats_server server;
  const auto both = try_connect(server, connect_options().token("t").user("u", "p"));
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error(), millrace::errc::invalid_options);
  EXPECT_EQ(try_connect(server, connect_options().connect_timeout(0s)).error(), millrace::errc::invalid_options);
  EXPECT_EQ(try_connect(server, connect_options().inbox_prefix("a b")).error(), millrace::errc::invalid_options);
  EXPECT_EQ(try_connect(server, connect_options().pending_limit(0)).error(), millrace::errc::invalid_options);
}

/// A CA, a server certificate for localhost and 127.0.0.1, and a client certificate, in the server's directory.
class tls_files {
 public:
  explicit tls_files(std::filesystem::path at) : at_(std::move(at)) {
    const std::string d = at_.string();
    sh("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout " + d + "/ca.key -out " + d +
       "/ca.pem -days 2 -subj /CN=test-ca");
    leaf("server", "subjectAltName=DNS:localhost,IP:127.0.0.1");
    leaf("client", "subjectAltName=DNS:client");
  }
  [[nodiscard]] std::string operator()(const std::string& name) const { return (at_ / name).string(); }

 private:
  void leaf(const std::string& name, const std::string& extension) {
    const std::string d = at_.string() + "/";
    std::ofstream(d + name + ".ext") << extension << '\n';
    sh("openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout " + d + name + ".key -out " + d +
       name + ".csr -subj /CN=" + name);
    sh("openssl x509 -req -in " + d + name + ".csr -CA " + d + "ca.pem -CAkey " + d +
       "ca.key -CAcreateserial -days 2 -out " + d + name + ".pem -extfile " + d + name + ".ext");
  }
  static void sh(const std::string& command) {
    if (std::system((command + " >/dev/null 2>&1").c_str()) != 0) throw std::runtime_error(command);
  }
  std::filesystem::path at_;
};

TEST_F(nats_auth, tls_verifies_the_server) {
  nats_server server;
  const tls_files files(server.directory());
  server.kill();
  server.configure("tls { cert_file: \"{dir}/server.pem\", key_file: \"{dir}/server.key\" }");
  server.start();
  expect_works(value_of(try_connect(server, connect_options().ca_file(files("ca.pem")))));
  expect_works(
      value_of(try_connect(server, connect_options().ca_file(files("ca.pem")).expected_hostname("localhost"))));
  const auto name = try_connect(server, connect_options().ca_file(files("ca.pem")).expected_hostname("elsewhere"));
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error(), millrace::errc::connect);
  EXPECT_FALSE(try_connect(server, connect_options().tls())); // an unknown CA
  expect_works(value_of(try_connect(server, connect_options().skip_verification())));
  const auto missing = try_connect(server, connect_options().ca_file("/nowhere/ca.pem"));
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message().find("ca_file"), std::string::npos) << missing.error().message();
}

TEST_F(nats_auth, tls_with_a_client_certificate) {
  nats_server server;
  const tls_files files(server.directory());
  server.kill();
  server.configure("tls { cert_file: \"{dir}/server.pem\", key_file: \"{dir}/server.key\", ca_file: \"{dir}/ca.pem\", "
                   "verify: true }");
  server.start();
  EXPECT_FALSE(try_connect(server, connect_options().ca_file(files("ca.pem"))));
  expect_works(value_of(try_connect(
      server, connect_options().ca_file(files("ca.pem")).certificate(files("client.pem"), files("client.key")))));
}

constexpr const char* restricted = R"(authorization { users = [
  {user: app, password: p, permissions: {publish: ["foo", "$JS.API.>"], subscribe: ["foo", "mine.>"]}}
] })";

// nats 12.6: SUB and flush succeed, the -ERR between them fails the start, by name.
TEST_F(nats_auth, N3_forbidden_subscription_aborts_the_start) {
  const nats_server server(restricted);
  connected_broker b = value_of(try_connect(server, connect_options().user("app", "p")));
  collecting_sink sink;
  open_options options;
  const auto refused = run(b.open(subject("bar"), sink, options));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), make_error_code(errc::subscribe));
  EXPECT_NE(refused.error().message().find("bar"), std::string::npos) << refused.error().message();
  EXPECT_NE(refused.error().server_text().find("ermissions"), std::string::npos) << refused.error().message();
  const auto grouped = run(b.open(subject("baz").queue_group("g"), sink, options));
  EXPECT_FALSE(grouped);
  const auto allowed = run(b.open(subject("foo"), sink, options));
  EXPECT_TRUE(allowed); // another one's violation is not its own
  EXPECT_TRUE(run(std::move(b).shutdown()));
}

// nats 12.7: a forbidden publish is lost, as core NATS loses it; the log names the subject.
TEST_F(nats_auth, forbidden_publish_is_logged_with_its_subject) {
  const nats_server server(restricted);
  connected_broker b = value_of(try_connect(server, connect_options().user("app", "p")));
  std::mutex mutex;
  std::string lines;
  set_log_sink([&](log_level, std::string_view line) {
    const std::lock_guard lock(mutex);
    lines.append(line).append("\n");
  });
  const auto port = value_of(b.pair(publish{}));
  EXPECT_TRUE(send(rt_, *port, "forbidden.subject", "x"));
  const auto logged = [&] {
    const std::lock_guard lock(mutex);
    return !lines.empty();
  };
  EXPECT_TRUE(poll(logged, 5s));
  set_log_sink({});
  EXPECT_NE(lines.find("forbidden.subject"), std::string::npos) << lines;
  EXPECT_TRUE(run(std::move(b).shutdown()));
}

// nats 12.8: a forbidden inbox prefix: bounded, and the error has the server's words; an allowed prefix works.
TEST_F(nats_auth, forbidden_inbox_prefix_is_bounded_and_a_permitted_one_works) {
  const nats_server server(restricted);
  connect_options options;
  options.user("app", "p").api_timeout(500ms);
  connected_broker silent = value_of(try_connect(server, options));
  collecting_sink sink;
  open_options none;
  const auto refused = run(silent.open(jetstream("S", "foo"), sink, none));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), make_error_code(errc::jetstream));
  EXPECT_NE(refused.error().server_text().find("_INBOX"), std::string::npos) << refused.error().message();

  options.inbox_prefix("mine");
  connected_broker b = value_of(try_connect(server, options));
  const auto missing = run(b.open(jetstream("S", "foo"), sink, none));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().server_code(), 10059) << missing.error().message(); // JetStream answered
}

} // namespace
} // namespace millrace::nats::test
