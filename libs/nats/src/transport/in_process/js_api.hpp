#pragma once

#include "transport/in_process/jetstream.hpp"

#include <boost/json/fwd.hpp>

namespace millrace::nats::detail::in_process {

/// The subjects under `$JS.API.` that are modelled: STREAM.INFO and
/// CONSUMER.{CREATE,DURABLE.CREATE,INFO,DELETE,MSG.NEXT}.
class js_api {
 public:
  static constexpr std::string_view prefix = "$JS.API.";

  explicit js_api(jetstream& js) noexcept : js_(&js) {}
  /// False: no such request.
  bool handle(const message& m, std::string_view reply);

 private:
  void stream_info(std::string_view stream_name, const message& m, std::string_view reply);
  void create(std::string_view stream_name, std::string_view name, bool durable, const message& m,
              std::string_view reply);
  [[nodiscard]] std::expected<consumer*, api_error> make(std::string_view stream_name, std::string_view name,
                                                         bool durable, std::string_view filter,
                                                         std::string_view payload);
  [[nodiscard]] std::expected<consumer*, api_error> admit(stream& s, std::string_view name, consumer_config config);
  void consumer_info(std::string_view stream_name, std::string_view name, std::string_view reply);
  void remove(std::string_view stream_name, std::string_view name, std::string_view reply);
  void pull(std::string_view stream_name, std::string_view name, const message& m, std::string_view reply);
  void answer(std::string_view reply, std::string_view type, const boost::json::object& body);
  void answer(std::string_view reply, std::string_view type, const api_error& error);

  jetstream* js_;
};

} // namespace millrace::nats::detail::in_process
