#pragma once

#include <millrace/pubsub/broker.hpp>
#include <millrace/pubsub/credentials.hpp>
#include <millrace/pubsub/errors.hpp>
#include <millrace/pubsub/fields.hpp>
#include <millrace/pubsub/options.hpp>
#include <millrace/pubsub/publish.hpp>
#include <millrace/pubsub/subscription.hpp>
