// TARGET: cpu
// kernel @histogram {
//   dim n
//   in %x: ref<gmem i32[n]>
//   inout %h: ref<gmem i32[16]>
//   launch @histogram grid(i = cdiv(n, 8)) {
//     %0 = program_id {axis = "i"} : i32
//     %1 = constant {value = 8} : i32
//     %2 = mul %0, %1 : i32
//     %3 = dim {name = "n"} : i32
//     %4 = sub %3, %2 : i32
//     %5 = load %x index(%2) valid(%4) : i32[8]
//     %6 = constant {value = 1} : i32[8]
//     %7 = atomic_rmw %h, %6 index(%5) {kind = add, order = relaxed, scope = device} : i32[8]
//   }
// }
"builtin.module"() ({
  "func.func"() <{sym_name = "histogram.program", sym_visibility = "private", function_type = (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64) -> (), arg_attrs = [{llvm.noalias, llvm.nonnull}, {llvm.noalias, llvm.nonnull}, {}, {llvm.noalias, llvm.nonnull}, {}]}> ({
  ^bb0(%0: !llvm.ptr, %1: !llvm.ptr, %2: i64, %3: !llvm.ptr, %4: i64):
    %5 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %6 = "arith.constant"() <{value = 8 : i64}> : () -> (i64)
    %7 = "arith.constant"() <{value = -1 : i64}> : () -> (i64)
    %8 = "arith.constant"() <{value = 8 : i32}> : () -> (i32)
    %9 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %10 = "arith.constant"() <{value = 1 : i32}> : () -> (i32)
    %11 = "arith.addi"(%2, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
    %12 = "arith.addi"(%11, %7) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
    %13 = "arith.divsi"(%12, %6) : (i64, i64) -> (i64)
    %14 = "arith.trunci"(%13) : (i64) -> (i32)
    %15 = "arith.trunci"(%4) : (i64) -> (i32)
    %16 = "arith.trunci"(%2) : (i64) -> (i32)
    %17 = "arith.muli"(%15, %8) : (i32, i32) -> (i32)
    %18 = "arith.subi"(%16, %17) : (i32, i32) -> (i32)
    %19 = "arith.extsi"(%17) : (i32) -> (i64)
    "scf.for"(%9, %6, %5) ({
    ^bb0(%20: i64):
      %21 = "arith.trunci"(%20) : (i64) -> (i32)
      %22 = "arith.cmpi"(%21, %18) <{predicate = 2 : i64}> : (i32, i32) -> (i1)
      "scf.if"(%22) ({
        %23 = "arith.trunci"(%20) : (i64) -> (i32)
        %24 = "arith.cmpi"(%23, %18) <{predicate = 2 : i64}> : (i32, i32) -> (i1)
        %25 = "arith.addi"(%19, %20) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
        %26 = "llvm.getelementptr"(%0, %25) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
        %27 = "scf.if"(%24) ({
          %28 = "llvm.load"(%26) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (i32)
          "scf.yield"(%28) : (i32) -> ()
        }, {
          %29 = "arith.constant"() <{value = 0 : i32}> : () -> (i32)
          "scf.yield"(%29) : (i32) -> ()
        }) : (i1) -> (i32)
        %30 = "arith.extsi"(%27) : (i32) -> (i64)
        %31 = "llvm.getelementptr"(%1, %30) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
        %32 = "llvm.atomicrmw"(%31, %10) <{bin_op = 1 : i64, ordering = 2 : i64}> : (!llvm.ptr, i32) -> (i32)
        "scf.yield"() : () -> ()
      }, {
      }) : (i1) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) {passthrough = ["no-builtins"]} : () -> ()
  "func.func"() <{sym_name = "histogram", function_type = (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()}> ({
  ^bb0(%33: !llvm.ptr, %34: !llvm.ptr, %35: !llvm.ptr, %36: i64, %37: i64):
    %38 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %39 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %40 = "llvm.getelementptr"(%33, %38) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %41 = "llvm.load"(%40) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %42 = "llvm.getelementptr"(%33, %39) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %43 = "llvm.load"(%42) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %44 = "llvm.getelementptr"(%34, %38) <{elem_type = i64, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %45 = "llvm.load"(%44) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (i64)
    "scf.for"(%36, %37, %39) ({
    ^bb0(%46: i64):
      "func.call"(%41, %43, %45, %35, %46) <{callee = @"histogram.program"}> : (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
