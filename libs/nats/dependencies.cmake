millrace_need_library(core)
# Not find_package(cnats): Debian's file names a static library that its package does not have.
millrace_need_pkg_config(libnats "Debian: libnats-dev")
millrace_need_package(Boost "json 1.81 or later; Debian: libboost-json1.81-dev" 1.81 CONFIG COMPONENTS json)
