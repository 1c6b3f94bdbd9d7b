#include "protocol/js_api.hpp"
#include "session/pull_reader.hpp"

#include <millrace/nats/errors.hpp>

namespace millrace::nats::detail {
namespace {

constexpr unsigned no_responders = 503;

/// One call of the JetStream API: the body of its answer. What went wrong names `place`.
task<result<std::string>> api_call(std::shared_ptr<connection> shared, std::string subject, std::string body,
                                   std::string place) {
  wire_message out;
  out.subject = subject;
  out.payload = as_bytes(body);
  result<received> answer = co_await mux_call(shared->mux(), shared->clock(), out, shared->settings().api_timeout);
  if (!answer) {
    error why(make_error_code(errc::jetstream), place + ": " + answer.error().message());
    const std::string said = shared->wire().take_last_error(); // a forbidden inbox shows only as silence (nats 12.8)
    if (!said.empty()) why = std::move(why).from_server(0, said);
    co_return fail(std::move(why));
  }
  if (status_of(*answer) == no_responders) co_return fail(errc::jetstream, place + ": JetStream is not enabled");
  co_return std::string(as_text(answer->payload()));
}

} // namespace

task<open_result> open_jetstream(std::shared_ptr<connection> shared, jetstream source, sink& to, open_options options) {
  const std::string place = "stream '" + source.stream() + "'";
  if (shared->closed()) co_return fail(errc::closed, place);
  auto looked_up = co_await api_call(shared, stream_info_subject(source.stream()), std::string(), place);
  if (!looked_up) co_return fail(std::move(looked_up.error()));
  result<void> found = read_api_response(*looked_up, place);
  if (!found) co_return fail(std::move(found.error()));

  std::string consumer_place = place + ", subject '" + source.name() + "'";
  if (!source.durable().empty()) consumer_place += ", durable '" + source.durable() + "'";
  auto created = co_await api_call(shared, consumer_create_subject(source),
                                   consumer_create_request(source, std::nullopt), consumer_place);
  if (!created) co_return fail(std::move(created.error()));
  result<std::string> consumer = read_consumer_response(*created, consumer_place);
  if (!consumer) co_return fail(std::move(consumer.error()));

  auto reader = std::make_shared<pull_reader>(shared, std::move(source), std::move(*consumer), to, options);
  shared->add(reader);
  result<void> started = reader->start();
  if (!started) co_return fail(std::move(started.error()));
  co_return std::make_unique<jetstream_subscription>(std::move(reader));
}

} // namespace millrace::nats::detail
