#include <millrace/amqp/address.hpp>
#include <millrace/amqp/errors.hpp>

namespace millrace::amqp::detail {

result<void> source_spec::check() const {
  if (address.empty()) return fail(errc::invalid_address, "a subscription without an address");
  const std::string place = "address '" + address + "': ";
  if (credit == 0) return fail(errc::invalid_address, place + "with no credit nothing would ever arrive");
  if (credit > 0x7fffffffU) return fail(errc::invalid_address, place + "more credit than a link can have");
  if (batch_wait < duration::zero()) return fail(errc::invalid_address, place + "a negative batch wait");
  return {};
}

} // namespace millrace::amqp::detail
