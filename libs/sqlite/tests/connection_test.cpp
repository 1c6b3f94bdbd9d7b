#include "connection.hpp"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

using namespace std::chrono_literals;
using millrace::sqlite::connection;

TEST(Connection, a_file_that_another_one_writes_is_busy_with_sqlites_text) {
  const auto file = std::filesystem::temp_directory_path() / ("millrace_busy_" + std::to_string(getpid()) + ".db");
  {
    connection holder;
    connection other;
    ASSERT_TRUE(holder.open(file.string(), 0ms));
    ASSERT_TRUE(other.open(file.string(), 0ms));
    ASSERT_TRUE(holder.run("BEGIN IMMEDIATE"));
    const auto refused = other.run("BEGIN IMMEDIATE");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), millrace::errc::timeout);
    EXPECT_EQ(refused.error().server_code(), SQLITE_BUSY);
    EXPECT_EQ(refused.error().server_text(), "database is locked");
  }
  std::filesystem::remove(file);
}

TEST(Connection, a_wrong_statement_names_what_is_wrong) {
  connection c;
  ASSERT_TRUE(c.open(":memory:", 0ms));
  const auto refused = c.run("SELECT * FROM absent");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), make_error_code(millrace::sqlite::errc::failed));
  EXPECT_EQ(refused.error().server_text(), "no such table: absent");
}
