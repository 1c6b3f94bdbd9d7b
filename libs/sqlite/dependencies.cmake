millrace_need_library(core)
millrace_need_package(SQLite3 "3.37 or later; Debian: libsqlite3-dev" 3.37)
