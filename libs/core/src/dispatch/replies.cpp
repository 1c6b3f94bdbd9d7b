#include "dispatch/replies.hpp"

#include <millrace/transaction.hpp>

#include <string>

namespace millrace {
namespace {

std::string_view destination_of(const detail::subscription_plan& plan, const reply_form& form) noexcept {
  if (!form.destination.empty()) return form.destination;
  if (plan.reply_to) return *plan.reply_to;
  return {};
}

task<result<void>> publish_all(const detail::subscription_plan& plan, batch_invocation& call,
                               detail::publish_cell& through) {
  for (const byte_buffer& payload : call.replies()) {
    outgoing_reply reply(plan, call, as_bytes(payload));
    publish_awaiter publishing(through, reply.message(), &call.ctx(), reply.refused());
    auto sent = co_await publishing;
    if (!sent) co_return fail(std::move(sent).error());
  }
  co_return result<void>{};
}

} // namespace

outgoing_reply::outgoing_reply(const detail::subscription_plan& plan, invocation& call, incoming& m) {
  const reply_form form = plan.handler->replies();
  message_.destination = destination_of(plan, form);
  message_.payload = call.reply();
  std::string_view correlation;
  if (message_.destination.empty()) {
    message_.destination = m.reply_to();
    if (message_.destination.empty()) return;
    correlation = m.headers().get("correlation-id").value_or(""); // what the sender knows its question by
  }
  add_headers(form, correlation);
  if (!plan.reply_transforms.empty()) transform(plan, call.ctx());
}

outgoing_reply::outgoing_reply(const detail::subscription_plan& plan, batch_invocation& call, bytes_view payload) {
  const reply_form form = plan.batch_handler->replies();
  message_.destination = destination_of(plan, form);
  message_.payload = payload;
  add_headers(form, {});
  if (!plan.reply_transforms.empty()) transform(plan, call.ctx());
}

void outgoing_reply::add_headers(const reply_form& form, std::string_view correlation) {
  if (!correlation.empty()) headers_.set("correlation-id", correlation);
  if (!form.content_type.empty() && form.content_type != json_codec::content_type)
    headers_.set(content_type_header, form.content_type);
  if (!headers_.empty()) message_.headers = &headers_;
}

void outgoing_reply::transform(const detail::subscription_plan& plan, context& origin) {
  draft_.emplace(message_, header_map(), plan.replies->pipeline.make_options(nullptr), &origin);
  try {
    for (const auto& change : plan.reply_transforms) {
      auto changed = change(*draft_);
      if (changed) continue;
      refused_ = std::move(changed).error();
      return;
    }
    message_ = draft_->message();
  } catch (const std::exception& e) {
    refused_.emplace(errc::publish,
                     "a reply to '" + std::string(message_.destination) + "': a transform threw: " + e.what());
  } catch (...) {
    refused_.emplace(errc::publish, "a reply to '" + std::string(message_.destination) + "': a transform threw");
  }
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
