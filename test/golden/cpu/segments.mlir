// TARGET: cpu
// kernel @segments {
//   in %x: ref<gmem f32[2, 8]>
//   in %f: ref<gmem bool[2, 8]>
//   out %y: ref<gmem f32[2, 8]>
//   launch @segments grid() {
//     %0 = constant {value = 0} : i32
//     %1 = load %x index(%0, %0) : f32[2, 8]
//     %2 = load %f index(%0, %0) : bool[2, 8]
//     %3, %4 = scan_with inputs(%1, %2) {axis = 1} : f32[2, 8], bool[2, 8] (%a: f32, %s: bool, %b: f32, %t: bool) {
//       %5 = add %a, %b : f32
//       %6 = select %t, %b, %5 : f32
//       %7 = or %s, %t : bool
//       yield values(%6, %7)
//     }
//     store %y, %3 index(%0, %0)
//   }
// }
"builtin.module"() ({
  "func.func"() <{sym_name = "segments.program", sym_visibility = "private", function_type = (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> (), arg_attrs = [{llvm.noalias, llvm.nonnull}, {llvm.noalias, llvm.nonnull}, {llvm.noalias, llvm.nonnull}, {llvm.noalias, llvm.nonnull}, {}]}> ({
  ^bb0(%0: !llvm.ptr, %1: !llvm.ptr, %2: !llvm.ptr, %3: !llvm.ptr, %4: i64):
    %5 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %6 = "arith.constant"() <{value = 8 : i64}> : () -> (i64)
    %7 = "arith.constant"() <{value = 0 : i32}> : () -> (i32)
    %8 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %9 = "arith.constant"() <{value = 2 : i64}> : () -> (i64)
    %10 = "arith.constant"() <{value = dense<0> : vector<8xi8>}> : () -> (vector<8xi8>)
    %11 = "arith.constant"() <{value = dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi32>}> : () -> (vector<8xi32>)
    %12 = "arith.constant"() <{value = dense<1> : vector<8xi32>}> : () -> (vector<8xi32>)
    %13 = "arith.constant"() <{value = dense<2> : vector<8xi32>}> : () -> (vector<8xi32>)
    %14 = "arith.constant"() <{value = dense<4> : vector<8xi32>}> : () -> (vector<8xi32>)
    "scf.for"(%8, %9, %5) ({
    ^bb0(%15: i64):
      %16 = "arith.muli"(%15, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %17 = "llvm.getelementptr"(%0, %16) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %18 = "llvm.load"(%17) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xf32>)
      %19 = "arith.muli"(%15, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %20 = "llvm.getelementptr"(%3, %19) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%18, %20) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xf32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    %21 = "llvm.getelementptr"(%3) <{elem_type = i8, rawConstantIndices = array<i32: 64>, noWrapFlags = 3 : i32}> : (!llvm.ptr) -> (!llvm.ptr)
    "scf.for"(%8, %9, %5) ({
    ^bb0(%22: i64):
      %23 = "arith.muli"(%22, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %24 = "llvm.getelementptr"(%1, %23) <{elem_type = i8, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %25 = "llvm.load"(%24) <{alignment = 1 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xi8>)
      %26 = "arith.cmpi"(%25, %10) <{predicate = 1 : i64}> : (vector<8xi8>, vector<8xi8>) -> (vector<8xi1>)
      %27 = "arith.muli"(%22, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %28 = "arith.extui"(%26) : (vector<8xi1>) -> (vector<8xi8>)
      %29 = "llvm.getelementptr"(%21, %27) <{elem_type = i8, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%28, %29) <{alignment = 1 : i64, ordering = 0 : i64}> : (vector<8xi8>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    %30 = "llvm.getelementptr"(%3) <{elem_type = i8, rawConstantIndices = array<i32: 128>, noWrapFlags = 3 : i32}> : (!llvm.ptr) -> (!llvm.ptr)
    "scf.for"(%8, %9, %5) ({
    ^bb0(%31: i64):
      %32 = "arith.muli"(%31, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %33 = "llvm.getelementptr"(%3, %32) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %34 = "llvm.load"(%33) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xf32>)
      %35 = "arith.muli"(%31, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %36 = "llvm.getelementptr"(%21, %35) <{elem_type = i8, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %37 = "llvm.load"(%36) <{alignment = 1 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xi8>)
      %38 = "arith.cmpi"(%37, %10) <{predicate = 1 : i64}> : (vector<8xi8>, vector<8xi8>) -> (vector<8xi1>)
      %39 = "vector.shuffle"(%34, %34) <{mask = array<i64: 0, 0, 1, 2, 3, 4, 5, 6>}> : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %40 = "vector.shuffle"(%38, %38) <{mask = array<i64: 0, 0, 1, 2, 3, 4, 5, 6>}> : (vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %41 = "arith.cmpi"(%11, %12) <{predicate = 5 : i64}> : (vector<8xi32>, vector<8xi32>) -> (vector<8xi1>)
      %42 = "arith.addf"(%39, %34) : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %43 = "arith.select"(%38, %34, %42) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %44 = "arith.ori"(%40, %38) : (vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %45 = "arith.select"(%41, %43, %34) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %46 = "arith.select"(%41, %44, %38) : (vector<8xi1>, vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %47 = "vector.shuffle"(%45, %45) <{mask = array<i64: 0, 1, 0, 1, 2, 3, 4, 5>}> : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %48 = "vector.shuffle"(%46, %46) <{mask = array<i64: 0, 1, 0, 1, 2, 3, 4, 5>}> : (vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %49 = "arith.cmpi"(%11, %13) <{predicate = 5 : i64}> : (vector<8xi32>, vector<8xi32>) -> (vector<8xi1>)
      %50 = "arith.addf"(%47, %45) : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %51 = "arith.select"(%46, %45, %50) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %52 = "arith.ori"(%48, %46) : (vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %53 = "arith.select"(%49, %51, %45) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %54 = "arith.select"(%49, %52, %46) : (vector<8xi1>, vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %55 = "vector.shuffle"(%53, %53) <{mask = array<i64: 0, 1, 2, 3, 0, 1, 2, 3>}> : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %56 = "vector.shuffle"(%54, %54) <{mask = array<i64: 0, 1, 2, 3, 0, 1, 2, 3>}> : (vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %57 = "arith.cmpi"(%11, %14) <{predicate = 5 : i64}> : (vector<8xi32>, vector<8xi32>) -> (vector<8xi1>)
      %58 = "arith.addf"(%55, %53) : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %59 = "arith.select"(%54, %53, %58) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %60 = "arith.ori"(%56, %54) : (vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %61 = "arith.select"(%57, %59, %53) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %62 = "arith.select"(%57, %60, %54) : (vector<8xi1>, vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %63 = "arith.muli"(%31, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %64 = "llvm.getelementptr"(%30, %63) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%61, %64) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xf32>, !llvm.ptr) -> ()
      %65 = "vector.extract"(%61) <{static_position = array<i64: 7>}> : (vector<8xf32>) -> (f32)
      %66 = "vector.extract"(%62) <{static_position = array<i64: 7>}> : (vector<8xi1>) -> (i1)
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "scf.for"(%8, %9, %5) ({
    ^bb0(%67: i64):
      %68 = "arith.muli"(%67, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %69 = "llvm.getelementptr"(%30, %68) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %70 = "llvm.load"(%69) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xf32>)
      %71 = "arith.muli"(%67, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %72 = "llvm.getelementptr"(%2, %71) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%70, %72) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xf32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) {passthrough = ["no-builtins"]} : () -> ()
  "func.func"() <{sym_name = "segments", function_type = (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()}> ({
  ^bb0(%73: !llvm.ptr, %74: !llvm.ptr, %75: !llvm.ptr, %76: i64, %77: i64):
    %78 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %79 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %80 = "arith.constant"() <{value = 2 : i64}> : () -> (i64)
    %81 = "llvm.getelementptr"(%73, %78) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %82 = "llvm.load"(%81) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %83 = "llvm.getelementptr"(%73, %79) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %84 = "llvm.load"(%83) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %85 = "llvm.getelementptr"(%73, %80) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %86 = "llvm.load"(%85) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    "scf.for"(%76, %77, %79) ({
    ^bb0(%87: i64):
      "func.call"(%82, %84, %86, %75, %87) <{callee = @"segments.program"}> : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
