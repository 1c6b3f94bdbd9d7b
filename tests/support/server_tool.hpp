#pragma once

#include <cstdint>
#include <string>

// Servers that the tools with-<name> start and describe, in a line of JSON.
namespace millrace::test_support {

/// The path of tools/with-<name>.
std::string server_tool(const std::string& name);

/// What a shell's command prints. Throws if it fails.
std::string output_of(const std::string& command);

/// A text of that name in the JSON. Throws if there is none.
std::string field_of(const std::string& json, const std::string& name);

/// The port at the end of a URL or an address.
std::uint16_t port_of(const std::string& url);

/// A name that no other test uses on a server that they share.
std::string fresh_name(const std::string& prefix);

} // namespace millrace::test_support
