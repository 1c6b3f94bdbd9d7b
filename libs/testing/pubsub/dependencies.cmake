millrace_need_library(pubsub) # and with it gRPC, which millrace::testing itself does not need
