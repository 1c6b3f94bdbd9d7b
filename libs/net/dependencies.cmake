millrace_need_library(core)
millrace_need_package(Boost "1.81 or later; Debian: libboost1.81-dev" 1.81 CONFIG)
millrace_need_package(OpenSSL "Debian: libssl-dev")
