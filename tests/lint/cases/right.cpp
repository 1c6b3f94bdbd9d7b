// Not compiled: nothing here may be found. if (co_await x) sleep(1)
/* co_await f({.a = 1}); std::this_thread::sleep_for(1s); */
task<void> fine() {
  auto ready = co_await f();
  if (ready) go();
  if (auto r = co_await f(); !r) go();
  for (auto& item : co_await items()) use(item);
  auto text = R"(if (co_await x) { f({.a = 1}) ? 1 : 2; })";
  log("if (co_await x) \" ? std::this_thread::sleep_for");
  auto quote = '"';
  if (any_of(list, [](auto& i) -> task<bool> { co_return co_await i.ready(); })) go();
  auto options = connect_options{.name = "a"};
  co_await connect(options);
  co_await clock.sleep_for(1s);
  co_await spawn([&] { return flag ? 1 : 2; });
  auto body = pick ? first : second;
  co_await publish(body);
  values[co_await index()] = 1'000'000;
  co_await g(message("a", "b"), big{1, 2});
  auto picked = co_await either(flag ? 1 : 2); // lint: allow await-ternary
  do { go(); } while (more());
}
