#include "transport/in_process/refusal.hpp"

namespace millrace::rabbitmq::detail::in_process {

std::string_view name_of_code(std::uint16_t code) noexcept {
  switch (code) {
  case 403:
    return "ACCESS_REFUSED";
  case 404:
    return "NOT_FOUND";
  case 405:
    return "RESOURCE_LOCKED";
  case 406:
    return "PRECONDITION_FAILED";
  case 501:
    return "FRAME_ERROR";
  case 503:
    return "COMMAND_INVALID";
  case 504:
    return "CHANNEL_ERROR";
  case 505:
    return "UNEXPECTED_FRAME";
  case 530:
    return "NOT_ALLOWED";
  case 540:
    return "NOT_IMPLEMENTED";
  default:
    return "INTERNAL_ERROR";
  }
}

} // namespace millrace::rabbitmq::detail::in_process
