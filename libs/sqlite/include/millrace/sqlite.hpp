#pragma once

#include <millrace/sqlite/errors.hpp>
#include <millrace/sqlite/idempotency_store.hpp>
