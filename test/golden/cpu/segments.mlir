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
      %20 = "llvm.getelementptr"(%1, %19) <{elem_type = i8, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %21 = "llvm.load"(%20) <{alignment = 1 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xi8>)
      %22 = "arith.cmpi"(%21, %10) <{predicate = 1 : i64}> : (vector<8xi8>, vector<8xi8>) -> (vector<8xi1>)
      %23 = "vector.shuffle"(%18, %18) <{mask = array<i64: 0, 0, 1, 2, 3, 4, 5, 6>}> : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %24 = "vector.shuffle"(%22, %22) <{mask = array<i64: 0, 0, 1, 2, 3, 4, 5, 6>}> : (vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %25 = "arith.cmpi"(%11, %12) <{predicate = 5 : i64}> : (vector<8xi32>, vector<8xi32>) -> (vector<8xi1>)
      %26 = "arith.addf"(%23, %18) : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %27 = "arith.select"(%22, %18, %26) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %28 = "arith.ori"(%24, %22) : (vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %29 = "arith.select"(%25, %27, %18) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %30 = "arith.select"(%25, %28, %22) : (vector<8xi1>, vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %31 = "vector.shuffle"(%29, %29) <{mask = array<i64: 0, 1, 0, 1, 2, 3, 4, 5>}> : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %32 = "vector.shuffle"(%30, %30) <{mask = array<i64: 0, 1, 0, 1, 2, 3, 4, 5>}> : (vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %33 = "arith.cmpi"(%11, %13) <{predicate = 5 : i64}> : (vector<8xi32>, vector<8xi32>) -> (vector<8xi1>)
      %34 = "arith.addf"(%31, %29) : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %35 = "arith.select"(%30, %29, %34) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %36 = "arith.ori"(%32, %30) : (vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %37 = "arith.select"(%33, %35, %29) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %38 = "arith.select"(%33, %36, %30) : (vector<8xi1>, vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %39 = "vector.shuffle"(%37, %37) <{mask = array<i64: 0, 1, 2, 3, 0, 1, 2, 3>}> : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %40 = "vector.shuffle"(%38, %38) <{mask = array<i64: 0, 1, 2, 3, 0, 1, 2, 3>}> : (vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %41 = "arith.cmpi"(%11, %14) <{predicate = 5 : i64}> : (vector<8xi32>, vector<8xi32>) -> (vector<8xi1>)
      %42 = "arith.addf"(%39, %37) : (vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %43 = "arith.select"(%38, %37, %42) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %44 = "arith.ori"(%40, %38) : (vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %45 = "arith.select"(%41, %43, %37) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> (vector<8xf32>)
      %46 = "arith.select"(%41, %44, %38) : (vector<8xi1>, vector<8xi1>, vector<8xi1>) -> (vector<8xi1>)
      %47 = "arith.muli"(%15, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %48 = "llvm.getelementptr"(%3, %47) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%45, %48) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xf32>, !llvm.ptr) -> ()
      %49 = "vector.extract"(%45) <{static_position = array<i64: 7>}> : (vector<8xf32>) -> (f32)
      %50 = "vector.extract"(%46) <{static_position = array<i64: 7>}> : (vector<8xi1>) -> (i1)
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "scf.for"(%8, %9, %5) ({
    ^bb0(%51: i64):
      %52 = "arith.muli"(%51, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %53 = "llvm.getelementptr"(%3, %52) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %54 = "llvm.load"(%53) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xf32>)
      %55 = "arith.muli"(%51, %6) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %56 = "llvm.getelementptr"(%2, %55) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%54, %56) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xf32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) {passthrough = ["no-builtins"]} : () -> ()
  "func.func"() <{sym_name = "segments", function_type = (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()}> ({
  ^bb0(%57: !llvm.ptr, %58: !llvm.ptr, %59: !llvm.ptr, %60: i64, %61: i64):
    %62 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %63 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %64 = "arith.constant"() <{value = 2 : i64}> : () -> (i64)
    %65 = "llvm.getelementptr"(%57, %62) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %66 = "llvm.load"(%65) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %67 = "llvm.getelementptr"(%57, %63) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %68 = "llvm.load"(%67) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %69 = "llvm.getelementptr"(%57, %64) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %70 = "llvm.load"(%69) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    "scf.for"(%60, %61, %63) ({
    ^bb0(%71: i64):
      "func.call"(%66, %68, %70, %59, %71) <{callee = @"segments.program"}> : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
