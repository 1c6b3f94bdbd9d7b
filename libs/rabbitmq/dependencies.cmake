millrace_need_library(core)
millrace_need_library(net)
