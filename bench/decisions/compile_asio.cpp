// The same handler on asio::awaitable, with the least that it needs of Asio.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>

boost::asio::awaitable<std::uint64_t> fetch(std::uint64_t n) { co_return n; }
boost::asio::awaitable<std::uint64_t> handler(const std::uint64_t& n) { co_return co_await fetch(n); }
