#pragma once

/// Everything a service needs besides its broker's header.
#include <millrace/service.hpp>
#include <millrace/task.hpp>

#include <boost/describe.hpp>
