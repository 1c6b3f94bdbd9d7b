#pragma once

/// The test harness: a production service in process, on a virtual clock, or on real brokers. Works with any test
/// framework that reports exceptions.
#include <millrace/testing/test_service.hpp>
#include <millrace/testing/virtual_runtime.hpp>
