#include <millrace/confirmation.hpp>

namespace millrace {

task<result<void>> confirmation::answer(std::shared_ptr<confirmation> from) {
  if (from == nullptr) co_return result<void>{};
  const bool answered = co_await from->answered_.wait();
  static_cast<void>(answered); // there is no bound but the broker's
  if (from->refused_) co_return fail(std::move(*from->refused_));
  co_return result<void>{};
}

} // namespace millrace
