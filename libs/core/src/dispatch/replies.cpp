#include "dispatch/replies.hpp"

#include <millrace/transaction.hpp>

#include <string>

namespace millrace {
namespace {

/// One reply through a cell: its content type, the registration's own transforms, then the publisher's pipeline.
task<result<void>> publish_reply(const detail::subscription_plan& plan, detail::publish_cell& through,
                                 const reply_form& form, std::string_view destination, bytes_view payload,
                                 context& origin, std::string_view correlation = {}) {
  header_map headers;
  if (!correlation.empty()) headers.set("correlation-id", correlation);
  if (!form.content_type.empty() && form.content_type != json_codec::content_type) {
    headers.set(content_type_header, form.content_type);
  }
  outgoing message{destination, payload, headers.empty() ? nullptr : &headers};
  std::optional<publish_draft> draft;
  if (!plan.reply_transforms.empty()) {
    draft.emplace(message, header_map(), through.pipeline.make_options(nullptr), &origin);
    for (const auto& change : plan.reply_transforms) {
      auto changed = change(*draft);
      if (!changed) co_return fail(std::move(changed).error());
    }
    message = draft->message();
  }
  publish_awaiter reply(through, message, &origin);
  auto sent = co_await reply;
  if (!sent) co_return fail(std::move(sent).error());
  co_return result<void>{};
}

std::string_view destination_of(const detail::subscription_plan& plan, const reply_form& form) noexcept {
  if (!form.destination.empty()) return form.destination;
  if (plan.reply_to) return *plan.reply_to;
  return {};
}

task<result<void>> publish_all(const detail::subscription_plan& plan, batch_invocation& call,
                               detail::publish_cell& through) {
  const reply_form form = plan.batch_handler->replies();
  for (const byte_buffer& reply : call.replies()) {
    auto sent = co_await publish_reply(plan, through, form, destination_of(plan, form), as_bytes(reply), call.ctx());
    if (!sent) co_return sent;
  }
  co_return result<void>{};
}

} // namespace

task<result<void>> send_reply(const detail::subscription_plan& plan, invocation& call, incoming& m) {
  const reply_form form = plan.handler->replies();
  std::string_view destination = destination_of(plan, form);
  std::string_view correlation;
  if (destination.empty()) {
    destination = m.reply_to();
    correlation = m.headers().get("correlation-id").value_or(""); // what the sender knows its question by
  }
  if (destination.empty()) co_return result<void>{};
  auto sent = co_await publish_reply(plan, *plan.replies, form, destination, call.reply(), call.ctx(), correlation);
  co_return sent;
}

task<result<void>> send_batch_replies(const detail::subscription_plan& plan, batch_invocation& call) {
  if (!plan.transactional) {
    auto sent = co_await publish_all(plan, call, *plan.replies);
    co_return sent;
  }
  auto open = co_await detail::begin_transaction(plan.replies, transaction_kind::owned);
  if (!open) co_return fail(std::move(open).error());
  auto sent = co_await publish_all(plan, call, (*open)->cell());
  if (sent) {
    auto committed = co_await (*open)->commit();
    co_return committed;
  }
  auto aborted = co_await (*open)->abort();
  if (!aborted) co_return fail(std::move(sent).error().at("the abort failed too: " + aborted.error().message()));
  co_return sent;
}

} // namespace millrace
