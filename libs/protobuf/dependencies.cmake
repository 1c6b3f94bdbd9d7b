millrace_need_library(core)
# MODULE: Debian's Protobuf has no file for CMake of its own.
millrace_need_package(Protobuf "Debian: libprotobuf-dev, protobuf-compiler" MODULE)
