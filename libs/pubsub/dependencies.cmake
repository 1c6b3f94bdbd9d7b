millrace_need_library(core)
# MODULE: Debian's Protobuf has no file for CMake of its own, and gRPC's file needs its targets.
millrace_need_package(Protobuf "Debian: libprotobuf-dev, protobuf-compiler" MODULE)
millrace_need_package(gRPC "Debian: libgrpc++-dev" CONFIG)
