; Where code that catches exceptions and the library that finds their types (_Unwind_CallPersonality) meet. Each thread needs
; its own: Emscripten's library of Debian 12 has it so, but LLVM 14 reaches for one of all threads, unless a source file has
; this variable already (WasmEHPrepare). Later versions of LLVM ask for one of each thread themselves.
target datalayout = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-f128:64-n32:64-S128-ni:1:10:20"
target triple = "wasm32-unknown-emscripten"
@__wasm_lpad_context = linkonce_odr thread_local global { i32, i8*, i32 } zeroinitializer
@llvm.compiler.used = appending global [1 x i8*] [i8* bitcast ({ i32, i8*, i32 }* @__wasm_lpad_context to i8*)]
