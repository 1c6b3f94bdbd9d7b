millrace_need_library(core)
# Debian's libcbor has no file for CMake.
millrace_need_pkg_config(libcbor "Debian: libcbor-dev")
