#pragma once

#include <millrace/nats/broker.hpp>
#include <millrace/nats/errors.hpp>
#include <millrace/nats/fields.hpp>
#include <millrace/nats/options.hpp>
#include <millrace/nats/publish.hpp>
#include <millrace/nats/sources.hpp>
