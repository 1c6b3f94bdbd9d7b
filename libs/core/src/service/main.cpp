#include <millrace/service_core.hpp>

#include <CLI/CLI.hpp>
#include <iostream>

namespace millrace {
namespace {

/// Prints what the service would open, or why it would not start.
int check_service(const service_core& core) {
  if (auto checked = core.check(); !checked) {
    std::cerr << checked.error().message() << '\n';
    return static_cast<int>(exit_code::start_failed);
  }
  std::cout << core.info().title << ' ' << core.info().version << '\n';
  for (const auto& broker : core.brokers()) {
    std::cout << "  broker " << broker->name() << '\n';
    for (const auto& plan : broker->plans()) {
      std::cout << "    subscription '" << plan->name << "' on '" << plan->address << "'\n";
    }
  }
  return static_cast<int>(exit_code::stopped);
}

} // namespace

int service_core::main(int argc, char** argv) {
  CLI::App app(info_.description.empty() ? info_.title : info_.description, info_.title);
  app.set_version_flag("--version", info_.version);
  const auto* check_command =
      app.add_subcommand("check", "Check the service without connecting, and list its subscriptions");
  app.add_subcommand("run", "Run until SIGINT or SIGTERM (the default)");
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : static_cast<int>(exit_code::bad_command);
  }
  if (check_command->parsed()) return check_service(*this);
  return run();
}

} // namespace millrace
