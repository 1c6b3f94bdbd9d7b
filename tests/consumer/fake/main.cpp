// A test of a user's that has the fake Pub/Sub server: include, link, start.
#include <millrace/testing/pubsub.hpp>

#include <cstdio>

int main() {
  millrace::testing::fake_pubsub server;
  server.create_topic("projects/my-project/topics/orders");
  std::printf("a Pub/Sub server is at %s\n", server.address().c_str());
  return server.has_topic("projects/my-project/topics/orders") ? 0 : 1;
}
