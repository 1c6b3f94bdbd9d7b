#include <millrace/protobuf.hpp>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message_lite.h>

#include <limits>
#include <string>

namespace millrace::detail {
namespace {

using google::protobuf::MessageLite;
using google::protobuf::io::CodedInputStream;

constexpr int depth_limit = 64; // what the other codecs accept
constexpr auto largest = static_cast<std::size_t>(std::numeric_limits<int>::max());

std::unexpected<error> refuse(errc kind, const MessageLite& message, std::string_view what) {
  return fail(kind, message.GetTypeName() + ": " + std::string(what));
}

std::string missing_fields(const MessageLite& message) { return "missing " + message.InitializationErrorString(); }

} // namespace

result<void> parse_protobuf(bytes_view payload, MessageLite& out) {
  if (payload.size() > largest) return refuse(errc::decode, out, "more than 2 GiB");
  CodedInputStream input(reinterpret_cast<const std::uint8_t*>(payload.data()), static_cast<int>(payload.size()));
  input.SetRecursionLimit(depth_limit);
  // Partial, because protobuf writes to stderr what is missing; the caller gets it instead.
  if (!out.ParsePartialFromCodedStream(&input) || !input.ConsumedEntireMessage()) [[unlikely]]
    return refuse(errc::decode, out, "malformed, truncated or nested too deep");
  if (!out.IsInitialized()) [[unlikely]]
    return refuse(errc::decode, out, missing_fields(out));
  return {};
}

result<void> serialize_protobuf(const MessageLite& message, byte_buffer& out) {
  if (!message.IsInitialized()) [[unlikely]]
    return refuse(errc::encode, message, missing_fields(message));
  const std::size_t start = out.size();
  if (message.ByteSizeLong() > largest || !message.AppendPartialToString(&out)) [[unlikely]] {
    out.resize(start);
    return refuse(errc::encode, message, "more than 2 GiB");
  }
  return {};
}

} // namespace millrace::detail
