// Not compiled: what a test must not do.
TEST(suite, DISABLED_name) {                                // finds skipped-test
  std::this_thread::sleep_for(5ms);                         // finds sleep
  std::this_thread :: sleep_until(later);                   // finds sleep
  usleep(10);                                               // finds sleep
  ::sleep(1);                                               // finds sleep
  if (!server) GTEST_SKIP() << "no server";                 // finds skipped-test
}
