#pragma once

/// The conformance suites: what every broker promises, checked through the same seam that services use. A broker's
/// author makes a kit (`kit_of`) for each mode and runs `checks()`; `conformance_gtest.hpp` does so with GoogleTest.
#include <millrace/testing/conformance/checks.hpp>
#include <millrace/testing/conformance/kit_of.hpp>
