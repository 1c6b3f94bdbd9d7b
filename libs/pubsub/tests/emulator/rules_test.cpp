// On Google's emulator; PUBSUB_EMULATOR_HOST says where.
#include "rules.hpp"

namespace millrace::pubsub::test {

broker here() { return broker(project); }
const client::mode how = client::mode::live;

} // namespace millrace::pubsub::test
