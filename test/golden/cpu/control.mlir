// TARGET: cpu
// kernel @control {
//   dim n
//   in %x: ref<gmem f32[n]>
//   out %y: ref<gmem f32[n]>
//   scalar %steps: i32
//   launch @control grid(i = cdiv(n, 8)) {
//     %0 = program_id {axis = "i"} : i32
//     %1 = constant {value = 8} : i32
//     %2 = mul %0, %1 : i32
//     %3 = dim {name = "n"} : i32
//     %4 = sub %3, %2 : i32
//     %5 = load %x index(%2) valid(%4) : f32[8]
//     %6 = constant {value = 0} : i32
//     %7 = gt %steps, %6 : bool
//     %8 = if %7 : f32[8] () {
//       %9 = add %5, %5 : f32[8]
//       yield values(%9)
//     } () {
//       yield values(%5)
//     }
//     %10, %11 = while init(%8, %steps) : f32[8], i32 (%t: f32[8], %left: i32) {
//       %12 = gt %left, %6 : bool
//       condition %12
//     } (%t2: f32[8], %left2: i32) {
//       %13 = mul %t2, %t2 : f32[8]
//       %14 = constant {value = 1} : i32
//       %15 = sub %left2, %14 : i32
//       yield values(%13, %15)
//     }
//     store %y, %10 index(%2) valid(%4)
//   }
// }
"builtin.module"() ({
  "func.func"() <{sym_name = "control.program", sym_visibility = "private", function_type = (!llvm.ptr, !llvm.ptr, i64, i32, !llvm.ptr, i64) -> (), arg_attrs = [{llvm.noalias, llvm.nonnull}, {llvm.noalias, llvm.nonnull}, {}, {}, {llvm.noalias, llvm.nonnull}, {}]}> ({
  ^bb0(%0: !llvm.ptr, %1: !llvm.ptr, %2: i64, %3: i32, %4: !llvm.ptr, %5: i64):
    %6 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %7 = "arith.constant"() <{value = 8 : i64}> : () -> (i64)
    %8 = "arith.constant"() <{value = -1 : i64}> : () -> (i64)
    %9 = "arith.constant"() <{value = 8 : i32}> : () -> (i32)
    %10 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %11 = "arith.constant"() <{value = dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi32>}> : () -> (vector<8xi32>)
    %12 = "arith.constant"() <{value = 0 : i32}> : () -> (i32)
    %13 = "arith.constant"() <{value = 1 : i32}> : () -> (i32)
    %14 = "arith.extsi"(%3) : (i32) -> (i64)
    %15 = "arith.addi"(%2, %7) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
    %16 = "arith.addi"(%15, %8) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
    %17 = "arith.divsi"(%16, %7) : (i64, i64) -> (i64)
    %18 = "arith.trunci"(%17) : (i64) -> (i32)
    %19 = "arith.trunci"(%5) : (i64) -> (i32)
    %20 = "arith.trunci"(%2) : (i64) -> (i32)
    %21 = "arith.muli"(%19, %9) : (i32, i32) -> (i32)
    %22 = "arith.subi"(%20, %21) : (i32, i32) -> (i32)
    %23 = "arith.extsi"(%21) : (i32) -> (i64)
    %24 = "arith.cmpi"(%22, %9) <{predicate = 5 : i64}> : (i32, i32) -> (i1)
    "scf.if"(%24) ({
      %25 = "llvm.getelementptr"(%0, %23) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %26 = "llvm.load"(%25) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xf32>)
      %27 = "llvm.getelementptr"(%4, %10) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%26, %27) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xf32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }, {
      %28 = "arith.trunci"(%10) : (i64) -> (i32)
      %29 = "vector.broadcast"(%28) : (i32) -> (vector<8xi32>)
      %30 = "arith.addi"(%29, %11) : (vector<8xi32>, vector<8xi32>) -> (vector<8xi32>)
      %31 = "vector.broadcast"(%22) : (i32) -> (vector<8xi32>)
      %32 = "arith.cmpi"(%30, %31) <{predicate = 2 : i64}> : (vector<8xi32>, vector<8xi32>) -> (vector<8xi1>)
      %33 = "vector.broadcast"(%32) : (vector<8xi1>) -> (vector<8xi1>)
      %34 = "llvm.getelementptr"(%0, %23) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %35 = "arith.constant"() <{value = dense<0.0> : vector<8xf32>}> : () -> (vector<8xf32>)
      %36 = "llvm.intr.masked.load"(%34, %33, %35) <{alignment = 4 : i32}> : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> (vector<8xf32>)
      %37 = "llvm.getelementptr"(%4, %10) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%36, %37) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xf32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i1) -> ()
    %38 = "arith.cmpi"(%3, %12) <{predicate = 4 : i64}> : (i32, i32) -> (i1)
    %39 = "llvm.getelementptr"(%4) <{elem_type = i8, rawConstantIndices = array<i32: 128>, noWrapFlags = 3 : i32}> : (!llvm.ptr) -> (!llvm.ptr)
    %40 = "llvm.getelementptr"(%4) <{elem_type = i8, rawConstantIndices = array<i32: 64>, noWrapFlags = 3 : i32}> : (!llvm.ptr) -> (!llvm.ptr)
    "scf.if"(%38) ({
      %41 = "llvm.getelementptr"(%4, %10) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %42 = "llvm.load"(%41) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xf32>)
      %43 = "arith.addf"(%42, %42) : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %44 = "llvm.getelementptr"(%39, %10) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%43, %44) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xf32>, !llvm.ptr) -> ()
      %45 = "llvm.getelementptr"(%39, %10) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %46 = "llvm.load"(%45) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xf32>)
      %47 = "llvm.getelementptr"(%40, %10) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%46, %47) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xf32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }, {
      %48 = "llvm.getelementptr"(%4, %10) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %49 = "llvm.load"(%48) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xf32>)
      %50 = "llvm.getelementptr"(%40, %10) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%49, %50) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xf32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i1) -> ()
    %51 = "scf.while"(%3) ({
    ^bb0(%52: i32):
      %53 = "arith.cmpi"(%52, %12) <{predicate = 4 : i64}> : (i32, i32) -> (i1)
      "scf.condition"(%53, %52) : (i1, i32) -> ()
    }, {
    ^bb0(%54: i32):
      %55 = "arith.subi"(%54, %13) : (i32, i32) -> (i32)
      %56 = "llvm.getelementptr"(%40, %10) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %57 = "llvm.load"(%56) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xf32>)
      %58 = "arith.mulf"(%57, %57) : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %59 = "llvm.getelementptr"(%40, %10) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%58, %59) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xf32>, !llvm.ptr) -> ()
      "scf.yield"(%55) : (i32) -> ()
    }) : (i32) -> (i32)
    %60 = "arith.extsi"(%21) : (i32) -> (i64)
    %61 = "arith.cmpi"(%22, %9) <{predicate = 5 : i64}> : (i32, i32) -> (i1)
    "scf.if"(%61) ({
      %62 = "llvm.getelementptr"(%40, %10) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %63 = "llvm.load"(%62) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xf32>)
      %64 = "llvm.getelementptr"(%1, %60) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%63, %64) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xf32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }, {
      %65 = "llvm.getelementptr"(%40, %10) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %66 = "llvm.load"(%65) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xf32>)
      %67 = "arith.trunci"(%10) : (i64) -> (i32)
      %68 = "vector.broadcast"(%67) : (i32) -> (vector<8xi32>)
      %69 = "arith.addi"(%68, %11) : (vector<8xi32>, vector<8xi32>) -> (vector<8xi32>)
      %70 = "vector.broadcast"(%22) : (i32) -> (vector<8xi32>)
      %71 = "arith.cmpi"(%69, %70) <{predicate = 2 : i64}> : (vector<8xi32>, vector<8xi32>) -> (vector<8xi1>)
      %72 = "vector.broadcast"(%71) : (vector<8xi1>) -> (vector<8xi1>)
      %73 = "llvm.getelementptr"(%1, %60) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.intr.masked.store"(%66, %73, %72) <{alignment = 4 : i32}> : (vector<8xf32>, !llvm.ptr, vector<8xi1>) -> ()
      "scf.yield"() : () -> ()
    }) : (i1) -> ()
    "func.return"() : () -> ()
  }) {passthrough = ["no-builtins"]} : () -> ()
  "func.func"() <{sym_name = "control", function_type = (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()}> ({
  ^bb0(%74: !llvm.ptr, %75: !llvm.ptr, %76: !llvm.ptr, %77: i64, %78: i64):
    %79 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %80 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %81 = "llvm.getelementptr"(%74, %79) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %82 = "llvm.load"(%81) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %83 = "llvm.getelementptr"(%74, %80) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %84 = "llvm.load"(%83) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %85 = "llvm.getelementptr"(%75, %79) <{elem_type = i64, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %86 = "llvm.load"(%85) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (i64)
    %87 = "llvm.getelementptr"(%75, %80) <{elem_type = i64, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %88 = "llvm.load"(%87) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (i32)
    "scf.for"(%77, %78, %80) ({
    ^bb0(%89: i64):
      "func.call"(%82, %84, %86, %88, %76, %89) <{callee = @"control.program"}> : (!llvm.ptr, !llvm.ptr, i64, i32, !llvm.ptr, i64) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
