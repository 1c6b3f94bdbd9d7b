#include "support/server_tool.hpp"

#include <cstdio>
#include <filesystem>
#include <random>
#include <stdexcept>

namespace millrace::test_support {

std::string server_tool(const std::string& name) {
  const std::filesystem::path here = __FILE__;
  return (here.parent_path() / "../../tools/with-").lexically_normal().string() + name;
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  char room[4096];
  while (const std::size_t n = fread(room, 1, sizeof room, pipe))
    text.append(room, n);
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command + "\n" + text);
  return text;
}

std::string field_of(const std::string& json, const std::string& name) {
  const std::size_t at = json.find("\"" + name + "\": \"");
  if (at == std::string::npos) throw std::runtime_error("no " + name + " in " + json);
  const std::size_t begin = at + name.size() + 5;
  return json.substr(begin, json.find('"', begin) - begin);
}

std::uint16_t port_of(const std::string& url) {
  return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
}

std::string fresh_name(const std::string& prefix) {
  static std::random_device random;
  return "t." + prefix + "." + std::to_string(random()) + std::to_string(random());
}

} // namespace millrace::test_support
