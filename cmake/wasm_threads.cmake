# Exceptions in several threads: each source file is compiled with wasm/threads/landing_pad.ll.
set(landing_pad ${PROJECT_SOURCE_DIR}/wasm/threads/landing_pad.ll)
set(bitcode ${PROJECT_BINARY_DIR}/landing_pad.bc)
find_program(FUSELAGE_LLVM_AS llvm-as PATHS /usr/lib/llvm-14/bin REQUIRED NO_DEFAULT_PATH)
execute_process(COMMAND ${FUSELAGE_LLVM_AS} ${landing_pad} -o ${bitcode} COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${landing_pad})
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -mlink-bitcode-file -Xclang ${bitcode}>")
