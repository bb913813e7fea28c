// TARGET: cpu
// kernel @add {
//   dim n multiple_of(64)
//   in %x: ref<gmem f32[n]>
//   in %y: ref<gmem f32[n]>
//   out %z: ref<gmem f32[n]>
//   launch @add grid(i = cdiv(n, 64)) {
//     %0 = program_id {axis = "i"} : i32
//     %1 = constant {value = 64} : i32
//     %2 = mul %0, %1 : i32
//     %3 = load %x index(%2) : f32[64]
//     %4 = load %y index(%2) : f32[64]
//     %5 = add %3, %4 : f32[64]
//     store %z, %5 index(%2)
//   }
// }
"builtin.module"() ({
  "func.func"() <{sym_name = "add.program", sym_visibility = "private", function_type = (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64) -> (), arg_attrs = [{llvm.noalias, llvm.nonnull}, {llvm.noalias, llvm.nonnull}, {llvm.noalias, llvm.nonnull}, {}, {llvm.noalias, llvm.nonnull}, {}]}> ({
  ^bb0(%0: !llvm.ptr, %1: !llvm.ptr, %2: !llvm.ptr, %3: i64, %4: !llvm.ptr, %5: i64):
    %6 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %7 = "arith.constant"() <{value = 64 : i64}> : () -> (i64)
    %8 = "arith.constant"() <{value = -1 : i64}> : () -> (i64)
    %9 = "arith.constant"() <{value = 64 : i32}> : () -> (i32)
    %10 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %11 = "arith.constant"() <{value = 32 : i64}> : () -> (i64)
    %12 = "arith.addi"(%3, %7) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
    %13 = "arith.addi"(%12, %8) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
    %14 = "arith.divsi"(%13, %7) : (i64, i64) -> (i64)
    %15 = "arith.trunci"(%14) : (i64) -> (i32)
    %16 = "arith.trunci"(%5) : (i64) -> (i32)
    %17 = "arith.trunci"(%3) : (i64) -> (i32)
    %18 = "arith.muli"(%16, %9) : (i32, i32) -> (i32)
    %19 = "arith.extsi"(%18) : (i32) -> (i64)
    %20 = "arith.extsi"(%18) : (i32) -> (i64)
    %21 = "arith.extsi"(%18) : (i32) -> (i64)
    "scf.for"(%10, %7, %11) ({
    ^bb0(%22: i64):
      %23 = "arith.addi"(%19, %22) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %24 = "llvm.getelementptr"(%0, %23) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %25 = "llvm.load"(%24) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<32xf32>)
      %26 = "arith.addi"(%20, %22) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %27 = "llvm.getelementptr"(%1, %26) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %28 = "llvm.load"(%27) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<32xf32>)
      %29 = "arith.addf"(%25, %28) : (vector<32xf32>, vector<32xf32>) -> (vector<32xf32>)
      %30 = "arith.addi"(%21, %22) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %31 = "llvm.getelementptr"(%2, %30) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%29, %31) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<32xf32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) {passthrough = ["no-builtins"]} : () -> ()
  "func.func"() <{sym_name = "add", function_type = (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()}> ({
  ^bb0(%32: !llvm.ptr, %33: !llvm.ptr, %34: !llvm.ptr, %35: i64, %36: i64):
    %37 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %38 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %39 = "arith.constant"() <{value = 2 : i64}> : () -> (i64)
    %40 = "llvm.getelementptr"(%32, %37) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %41 = "llvm.load"(%40) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %42 = "llvm.getelementptr"(%32, %38) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %43 = "llvm.load"(%42) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %44 = "llvm.getelementptr"(%32, %39) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %45 = "llvm.load"(%44) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %46 = "llvm.getelementptr"(%33, %37) <{elem_type = i64, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %47 = "llvm.load"(%46) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (i64)
    "scf.for"(%35, %36, %38) ({
    ^bb0(%48: i64):
      "func.call"(%41, %43, %45, %47, %34, %48) <{callee = @"add.program"}> : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
