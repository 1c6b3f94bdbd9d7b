#pragma once

#include <millrace/testing/conformance.hpp>

#include <gtest/gtest.h>

#include <initializer_list>
#include <iostream>
#include <source_location>
#include <string>
#include <utility>

namespace millrace::testing::conformance {

namespace detail {

class check_test final : public ::testing::Test {
 public:
  check_test(const check& what, kit_ptr kit) : check_(&what), kit_(std::move(kit)) {}

  void TestBody() override {
    if (!check_->rules.empty()) RecordProperty("rule", std::string(check_->rules));
    const verdict said = check_->run(kit_);
    EXPECT_EQ(said.what, verdict::kind::passed) << said.text;
  }

 private:
  const check* check_;
  kit_ptr kit_;
};

/// What is not checked, and why: a list to read, so that nothing is left out in silence.
class left_out_test final : public ::testing::Test {
 public:
  explicit left_out_test(kit_ptr kit) : kit_(std::move(kit)) {}

  void TestBody() override {
    for (const check& c : checks()) {
      if (c.applies(*kit_)) continue;
      const std::string name = std::string(c.suite) + "_" + std::string(c.name);
      RecordProperty(name, "needs " + std::string(c.needs));
      std::cout << "left out: " << name << " needs " << c.needs << '\n';
    }
  }

 private:
  kit_ptr kit_;
};

template <class Make>
void register_one(const kit_ptr& kit, const std::string& name, const std::source_location& where, Make make) {
  const std::string suite = kit->name() + "_" + std::string(name_of(kit->mode()));
  ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, where.file_name(),
                          static_cast<int>(where.line()), std::move(make));
}

} // namespace detail

/// Registers every check that applies as the test `<name>_<mode>.<suite>_<check>`, and `<name>_<mode>.left_out`, which
/// lists the others. Before main: `const bool registered = conformance::register_checks({my_kit()});`
inline bool register_checks(std::initializer_list<kit_ptr> kits,
                            std::source_location where = std::source_location::current()) {
  for (const kit_ptr& kit : kits) {
    for (const check& c : checks()) {
      if (!c.applies(*kit)) continue;
      detail::register_one(kit, std::string(c.suite) + "_" + std::string(c.name), where,
                           [&c, kit]() -> ::testing::Test* { return new detail::check_test(c, kit); });
    }
    detail::register_one(kit, "left_out", where,
                         [kit]() -> ::testing::Test* { return new detail::left_out_test(kit); });
  }
  return true;
}

} // namespace millrace::testing::conformance
