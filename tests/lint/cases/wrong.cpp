// Each line marked "finds" breaks the rule that it names; run.py compares. Not compiled.
task<void> conditions() {
  if (co_await ready()) go();                       // finds await-condition
  while (!co_await done(1, 2)) go();                // finds await-condition
  switch (co_await kind()) { default: break; }      // finds await-condition
  if (auto r = co_await f()) go();                  // finds await-condition
  if (int n = 1'000; n < co_await count()) go();    // finds await-condition
  if (other()) {
    co_await publish({.topic = "a", .body = "b"});  // finds await-aggregate
    co_await publish(message{.topic = "a"});        // finds await-aggregate
  }
  auto sum = co_await add(
      flag ? first : second,                        // finds await-ternary
      2);
  auto one = flag ? co_await left() : right();      // finds await-ternary
  co_await run([z = std::move(z)] { use(z); });     // finds await-capture
  co_await run([&, z = std::move(z)]() mutable {    // finds await-capture
    use(z);
  });
  auto later = [] -> task<void> {
    if (co_await inner()) go();                     // finds await-condition
  };
}
