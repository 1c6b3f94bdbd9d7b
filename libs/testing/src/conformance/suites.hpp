#pragma once

#include <millrace/testing/conformance/checks.hpp>

#include <vector>

namespace millrace::testing::conformance {

void add_lifecycle(std::vector<check>& to);
void add_shutdown(std::vector<check>& to); ///< the second half of the lifecycle suite
void add_settlement(std::vector<check>& to);
void add_retry(std::vector<check>& to);
void add_request_reply(std::vector<check>& to);
void add_batches(std::vector<check>& to);
void add_keyed_lanes(std::vector<check>& to);
void add_transactions(std::vector<check>& to);
void add_seek(std::vector<check>& to);

} // namespace millrace::testing::conformance
