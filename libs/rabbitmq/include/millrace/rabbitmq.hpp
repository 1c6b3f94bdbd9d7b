#pragma once

#include <millrace/rabbitmq/broker.hpp>
#include <millrace/rabbitmq/errors.hpp>
#include <millrace/rabbitmq/fields.hpp>
#include <millrace/rabbitmq/options.hpp>
#include <millrace/rabbitmq/publish.hpp>
#include <millrace/rabbitmq/queue.hpp>
