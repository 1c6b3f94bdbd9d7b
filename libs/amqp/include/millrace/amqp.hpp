#pragma once

#include <millrace/amqp/address.hpp>
#include <millrace/amqp/broker.hpp>
#include <millrace/amqp/errors.hpp>
#include <millrace/amqp/fields.hpp>
#include <millrace/amqp/options.hpp>
#include <millrace/amqp/publish.hpp>
