#include "harness.hpp"

#include <millrace/testing/errors.hpp>

namespace millrace::testing {

std::string harness::list_brokers() const {
  std::string text;
  for (const auto& broker : core_->brokers()) {
    if (!text.empty()) text += ", ";
    text += "'" + broker->name() + "'";
    if (!broker->label().empty()) text += " (" + broker->describe() + ")";
  }
  return text.empty() ? "none" : text;
}

std::size_t harness::one_of(const std::vector<std::size_t>& found, const std::string& asked) const {
  if (found.size() == 1) return found.front();
  if (found.empty()) throw unknown_name({errc::invalid_options, asked + ": none; the service has " + list_brokers()});
  throw ambiguous_name({errc::invalid_options, asked + ": several; the service has " + list_brokers() +
                                                   ". Say which one: t.broker(\"label\") or t.broker<Type>()"});
}

std::size_t harness::broker_of_type(const void* type) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < core_->brokers().size(); ++i) {
    if (core_->brokers()[i]->type() == type) found.push_back(i);
  }
  return one_of(found, "a broker of this type");
}

std::size_t harness::broker_called(std::string_view label) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < core_->brokers().size(); ++i) {
    if (core_->brokers()[i]->name() == label) found.push_back(i);
  }
  return one_of(found, "a broker called '" + std::string(label) + "'");
}

std::size_t harness::only_broker() const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < core_->brokers().size(); ++i)
    all.push_back(i);
  return one_of(all, "the only broker");
}

record_filter harness::subscription(std::optional<std::size_t> broker, std::string_view name) const {
  std::vector<record_filter> found;
  std::string all;
  for (std::size_t i = 0; i < core_->brokers().size(); ++i) {
    if (broker && *broker != i) continue;
    for (const auto& plan : core_->brokers()[i]->plans()) {
      if (plan->name == name) found.push_back({plan->broker, plan->name});
      all += (all.empty() ? "'" : ", '") + plan->name + "' on '" + plan->broker + "'";
    }
  }
  const std::string asked = "a subscription called '" + std::string(name) + "'";
  if (found.empty()) {
    throw unknown_name({errc::invalid_options, asked + ": none; there is " + (all.empty() ? "no subscription" : all)});
  }
  if (found.size() == 1) return found.front();
  throw ambiguous_name({errc::invalid_options,
                        asked + ": several; there is " + all +
                            ". Say which one: t.broker(\"label\").subscription(…), or tell them apart with named(…)"});
}

record_filter harness::channel(std::size_t broker, std::string_view destination) const {
  return {core_->brokers()[broker]->name(), std::string(destination)};
}

} // namespace millrace::testing
