#include <millrace/address_template.hpp>
#include <millrace/publish_pipeline.hpp>
#include <millrace/typed_headers.hpp>

#include <algorithm>
#include <utility>

namespace millrace {

publish_draft::publish_draft(const outgoing& message, const header_map& base, std::shared_ptr<void> options,
                             context* origin)
    : destination_(message.destination), payload_(message.payload), headers_(base), options_(std::move(options)),
      origin_(origin) {
  if (message.headers != nullptr) headers_.merge(*message.headers);
}

outgoing publish_draft::message() const noexcept {
  return {destination_, payload_, headers_.empty() ? nullptr : &headers_, options_.get()};
}

namespace detail {
namespace {

class layers_run final : public next_publish::source {
 public:
  layers_run(const publish_pipeline& pipeline, publish_draft& draft, const send_draft& send) noexcept
      : pipeline_(&pipeline), draft_(&draft), send_(&send) {}
  /// `position` counts the layers that are still outside the broker.
  task<result<receipt>> call(std::size_t position) override {
    if (position == 0) return (*send_)(*draft_);
    return pipeline_->layers[position - 1]->around(*draft_, next_publish(*this, position - 1));
  }

 private:
  const publish_pipeline* pipeline_;
  publish_draft* draft_;
  const send_draft* send_;
};

} // namespace

task<result<receipt>> run_pipeline(const publish_pipeline& pipeline, publish_draft& draft, const send_draft& send) {
  std::string thrown;
  try {
    for (const auto& transform : pipeline.transforms) {
      auto changed = transform(draft);
      if (!changed) co_return fail(std::move(changed).error());
      if (draft.named_twice()) {
        co_return fail(errc::invalid_options,
                       "publish to '" + std::string(draft.destination()) + "': two transforms name the destination");
      }
    }
    layers_run layers(pipeline, draft, send);
    auto sent = co_await layers.call(pipeline.layers.size());
    co_return sent;
  } catch (const std::exception& e) {
    thrown = e.what();
  }
  co_return fail(errc::publish,
                 "publish to '" + std::string(draft.destination()) + "': a transform or layer threw: " + thrown);
}

result<void> fill_placeholder(std::string& address, std::string_view name, std::string_view value) {
  constexpr std::string_view shaping = ".*>#/ \t\r\n{}";
  if (value.empty() || value.find_first_of(shaping) != std::string_view::npos) {
    return fail(errc::invalid_options, "placeholder '" + std::string(name) + "' of '" + address + "': '" +
                                           std::string(value) + "' is empty or would change the shape of the address");
  }
  const std::string placeholder = "{" + std::string(name) + "}";
  if (const auto at = address.find(placeholder); at != std::string::npos)
    address.replace(at, placeholder.size(), value);
  return {};
}

std::unexpected<error> bad_header(std::string_view name, std::string_view why) {
  return fail(errc::decode, "header '" + std::string(name) + "' " + std::string(why));
}

std::string header_name_of(std::string_view member) {
  std::string name(member);
  std::ranges::replace(name, '_', '-');
  return name;
}

bool parse_header(std::string_view text, bool& into) noexcept {
  if (text != "true" && text != "false") return false;
  into = text == "true";
  return true;
}

} // namespace detail
} // namespace millrace
