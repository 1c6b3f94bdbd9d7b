millrace_need_package(Threads "POSIX threads")
millrace_need_package(Boost "1.81 or later; Debian: libboost1.81-dev" 1.81 CONFIG)
millrace_need_package(fmt "Debian: libfmt-dev" CONFIG)
millrace_need_package(spdlog "Debian: libspdlog-dev" CONFIG)
