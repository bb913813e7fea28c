// TARGET: cpu
// kernel @debug {
//   in %x: ref<gmem f32[2]>
//   launch @debug grid(i = 4) {
//     %0 = constant {value = 0} : i32
//     %1 = load %x index(%0) : f32[2]
//     %2 = constant {value = 3} : f32[2]
//     %3 = lt %1, %2 : bool[2]
//     debug_print values(%1) {format = "x is {}"}
//     assert %3 {message = "x is small"}
//   }
// }
"builtin.module"() ({
  "llvm.mlir.global"() <{sym_name = "tilewright.text0", global_type = !llvm.array<26 x i8>, linkage = #llvm.linkage<private>, constant = unit, value = "(i=%lld)[%lld] x is %.9g\0A\00", addr_space = 0 : i32, visibility_ = 0 : i64}> ({
  }) : () -> ()
  "llvm.func"() <{sym_name = "printf", function_type = !llvm.func<i32 (!llvm.ptr, ...)>, linkage = #llvm.linkage<external>, visibility_ = 0 : i64}> ({
  }) : () -> ()
  "llvm.mlir.global"() <{sym_name = "tilewright.text1", global_type = !llvm.array<53 x i8>, linkage = #llvm.linkage<private>, constant = unit, value = "assert [\22case.kir\22,9,5,\22x is small\22] (i=%lld)[%lld]\0A\00", addr_space = 0 : i32, visibility_ = 0 : i64}> ({
  }) : () -> ()
  "llvm.func"() <{sym_name = "fflush", function_type = !llvm.func<i32 (!llvm.ptr)>, linkage = #llvm.linkage<external>, visibility_ = 0 : i64}> ({
  }) : () -> ()
  "llvm.func"() <{sym_name = "abort", function_type = !llvm.func<void ()>, linkage = #llvm.linkage<external>, visibility_ = 0 : i64}> ({
  }) : () -> ()
  "func.func"() <{sym_name = "debug.program", sym_visibility = "private", function_type = (!llvm.ptr, !llvm.ptr, i64) -> (), arg_attrs = [{llvm.noalias, llvm.nonnull}, {llvm.noalias, llvm.nonnull}, {}]}> ({
  ^bb0(%0: !llvm.ptr, %1: !llvm.ptr, %2: i64):
    %3 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %4 = "arith.constant"() <{value = 4 : i64}> : () -> (i64)
    %5 = "arith.constant"() <{value = 0 : i32}> : () -> (i32)
    %6 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %7 = "arith.constant"() <{value = 2 : i64}> : () -> (i64)
    %8 = "arith.constant"() <{value = 0x40400000 : f32}> : () -> (f32)
    %9 = "arith.constant"() <{value = true}> : () -> (i1)
    %10 = "arith.trunci"(%4) : (i64) -> (i32)
    %11 = "arith.trunci"(%2) : (i64) -> (i32)
    "scf.for"(%6, %7, %3) ({
    ^bb0(%12: i64):
      %13 = "arith.extsi"(%11) : (i32) -> (i64)
      %14 = "llvm.getelementptr"(%0, %12) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %15 = "llvm.load"(%14) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (f32)
      %16 = "arith.extf"(%15) : (f32) -> (f64)
      %17 = "arith.cmpf"(%16, %16) <{predicate = 14 : i64}> : (f64, f64) -> (i1)
      %18 = "math.absf"(%16) : (f64) -> (f64)
      %19 = "arith.select"(%17, %18, %16) : (i1, f64, f64) -> (f64)
      %20 = "llvm.mlir.addressof"() <{global_name = @"tilewright.text0"}> : () -> (!llvm.ptr)
      %21 = "llvm.call"(%20, %13, %12, %19) <{callee = @printf, op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 4, 0>, var_callee_type = !llvm.func<i32 (!llvm.ptr, ...)>}> : (!llvm.ptr, i64, i64, f64) -> (i32)
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "scf.for"(%6, %7, %3) ({
    ^bb0(%22: i64):
      %23 = "llvm.getelementptr"(%0, %22) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %24 = "llvm.load"(%23) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (f32)
      %25 = "arith.cmpf"(%24, %8) <{predicate = 4 : i64}> : (f32, f32) -> (i1)
      %26 = "arith.xori"(%25, %9) : (i1, i1) -> (i1)
      "scf.if"(%26) ({
        %27 = "arith.extsi"(%11) : (i32) -> (i64)
        %28 = "llvm.mlir.addressof"() <{global_name = @"tilewright.text1"}> : () -> (!llvm.ptr)
        %29 = "llvm.call"(%28, %27, %22) <{callee = @printf, op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 3, 0>, var_callee_type = !llvm.func<i32 (!llvm.ptr, ...)>}> : (!llvm.ptr, i64, i64) -> (i32)
        %30 = "llvm.mlir.zero"() : () -> (!llvm.ptr)
        %31 = "llvm.call"(%30) <{callee = @fflush, op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 1, 0>}> : (!llvm.ptr) -> (i32)
        "llvm.call"() <{callee = @abort, op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
        "scf.yield"() : () -> ()
      }, {
      }) : (i1) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) {passthrough = ["no-builtins"]} : () -> ()
  "func.func"() <{sym_name = "debug", function_type = (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()}> ({
  ^bb0(%32: !llvm.ptr, %33: !llvm.ptr, %34: !llvm.ptr, %35: i64, %36: i64):
    %37 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %38 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %39 = "llvm.getelementptr"(%32, %37) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %40 = "llvm.load"(%39) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    "scf.for"(%35, %36, %38) ({
    ^bb0(%41: i64):
      "func.call"(%40, %34, %41) <{callee = @"debug.program"}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
