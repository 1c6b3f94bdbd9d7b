// In process.
#include "rules.hpp"

namespace millrace::pubsub::test {

broker here() { return broker(project); }
const client::mode how = client::mode::in_process;

} // namespace millrace::pubsub::test
