// TARGET: cpu
// kernel @matmul {
//   dim k multiple_of(8)
//   in %a: ref<gmem i8[2, k]>
//   in %b: ref<gmem i8[k, 8]>
//   out %c: ref<gmem i32[2, 8]>
//   launch @matmul grid(i = 1) {
//     %0 = constant {value = 0} : i32
//     %1 = constant {value = 1} : i32
//     %2 = constant {value = 8} : i32
//     %3 = dim {name = "k"} : i32
//     %4 = cdiv %3, %2 : i32
//     %5 = constant {value = 0} : i32[2, 8]
//     %6 = for %0, %4, %1 init(%5) : i32[2, 8] (%t: i32, %acc: i32[2, 8]) {
//       %7 = mul %t, %2 : i32
//       %8 = load %a index(%0, %7) : i8[2, 8]
//       %9 = load %b index(%7, %0) : i8[8, 8]
//       %10 = dot %8, %9 {precision = ieee} : i32[2, 8]
//       %11 = add %acc, %10 : i32[2, 8]
//       yield values(%11)
//     }
//     store %c, %6 index(%0, %0)
//   }
// }
"builtin.module"() ({
  "func.func"() <{sym_name = "matmul.program", sym_visibility = "private", function_type = (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64) -> (), arg_attrs = [{llvm.noalias, llvm.nonnull}, {llvm.noalias, llvm.nonnull}, {llvm.noalias, llvm.nonnull}, {}, {llvm.noalias, llvm.nonnull}, {}]}> ({
  ^bb0(%0: !llvm.ptr, %1: !llvm.ptr, %2: !llvm.ptr, %3: i64, %4: !llvm.ptr, %5: i64):
    %6 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %7 = "arith.constant"() <{value = 8 : i64}> : () -> (i64)
    %8 = "arith.constant"() <{value = 0 : i32}> : () -> (i32)
    %9 = "arith.constant"() <{value = 1 : i32}> : () -> (i32)
    %10 = "arith.constant"() <{value = 8 : i32}> : () -> (i32)
    %11 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %12 = "arith.constant"() <{value = 2 : i64}> : () -> (i64)
    %13 = "arith.constant"() <{value = dense<0> : vector<8xi32>}> : () -> (vector<8xi32>)
    %14 = "arith.constant"() <{value = 16 : i64}> : () -> (i64)
    %15 = "arith.constant"() <{value = 128 : i64}> : () -> (i64)
    %16 = "arith.trunci"(%6) : (i64) -> (i32)
    %17 = "arith.trunci"(%5) : (i64) -> (i32)
    %18 = "arith.trunci"(%3) : (i64) -> (i32)
    %19 = "arith.divsi"(%18, %10) : (i32, i32) -> (i32)
    %20 = "arith.muli"(%19, %10) : (i32, i32) -> (i32)
    %21 = "arith.subi"(%18, %20) : (i32, i32) -> (i32)
    %22 = "arith.cmpi"(%21, %8) <{predicate = 1 : i64}> : (i32, i32) -> (i1)
    %23 = "arith.xori"(%21, %10) : (i32, i32) -> (i32)
    %24 = "arith.cmpi"(%23, %8) <{predicate = 5 : i64}> : (i32, i32) -> (i1)
    %25 = "arith.andi"(%22, %24) : (i1, i1) -> (i1)
    %26 = "arith.addi"(%19, %9) : (i32, i32) -> (i32)
    %27 = "arith.select"(%25, %26, %19) : (i1, i32, i32) -> (i32)
    "scf.for"(%11, %12, %6) ({
    ^bb0(%28: i64):
      %29 = "arith.muli"(%28, %7) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %30 = "llvm.getelementptr"(%4, %29) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%13, %30) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xi32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    %31 = "llvm.getelementptr"(%4) <{elem_type = i8, rawConstantIndices = array<i32: 64>, noWrapFlags = 3 : i32}> : (!llvm.ptr) -> (!llvm.ptr)
    %32 = "llvm.getelementptr"(%4) <{elem_type = i8, rawConstantIndices = array<i32: 128>, noWrapFlags = 3 : i32}> : (!llvm.ptr) -> (!llvm.ptr)
    "scf.for"(%8, %27, %9) ({
    ^bb0(%33: i32):
      %34 = "arith.muli"(%33, %10) : (i32, i32) -> (i32)
      %35 = "arith.extsi"(%34) : (i32) -> (i64)
      %36 = "arith.extsi"(%34) : (i32) -> (i64)
      %37 = "arith.muli"(%36, %7) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      "scf.for"(%11, %12, %6) ({
      ^bb0(%38: i64):
        %39 = "arith.muli"(%38, %3) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
        %40 = "arith.addi"(%35, %39) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
        %41 = "llvm.getelementptr"(%0, %40) <{elem_type = i8, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
        %42 = "llvm.load"(%41) <{alignment = 1 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xi8>)
        %43 = "arith.extsi"(%42) : (vector<8xi8>) -> (vector<8xi32>)
        %44 = "arith.muli"(%38, %7) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
        %45 = "llvm.getelementptr"(%31, %44) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
        "llvm.store"(%43, %45) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xi32>, !llvm.ptr) -> ()
        "scf.yield"() : () -> ()
      }) : (i64, i64, i64) -> ()
      "scf.for"(%11, %7, %6) ({
      ^bb0(%46: i64):
        %47 = "arith.muli"(%46, %7) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
        %48 = "arith.addi"(%37, %47) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
        %49 = "llvm.getelementptr"(%1, %48) <{elem_type = i8, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
        %50 = "llvm.load"(%49) <{alignment = 1 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xi8>)
        %51 = "arith.extsi"(%50) : (vector<8xi8>) -> (vector<8xi32>)
        %52 = "arith.muli"(%46, %14) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
        %53 = "llvm.getelementptr"(%32, %52) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
        "llvm.store"(%51, %53) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xi32>, !llvm.ptr) -> ()
        "scf.yield"() : () -> ()
      }) : (i64, i64, i64) -> ()
      %54 = "llvm.getelementptr"(%4, %11) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %55 = "llvm.load"(%54) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xi32>)
      %56 = "llvm.getelementptr"(%4, %7) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %57 = "llvm.load"(%56) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xi32>)
      %58, %59 = "scf.for"(%11, %7, %6, %55, %57) ({
      ^bb0(%60: i64, %61: vector<8xi32>, %62: vector<8xi32>):
        %63 = "arith.muli"(%60, %14) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
        %64 = "llvm.getelementptr"(%32, %63) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
        %65 = "llvm.load"(%64) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xi32>)
        %66 = "llvm.getelementptr"(%31, %60) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
        %67 = "llvm.load"(%66) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (i32)
        %68 = "vector.broadcast"(%67) : (i32) -> (vector<8xi32>)
        %69 = "arith.muli"(%68, %65) : (vector<8xi32>, vector<8xi32>) -> (vector<8xi32>)
        %70 = "arith.addi"(%61, %69) : (vector<8xi32>, vector<8xi32>) -> (vector<8xi32>)
        %71 = "arith.addi"(%7, %60) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
        %72 = "llvm.getelementptr"(%31, %71) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
        %73 = "llvm.load"(%72) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (i32)
        %74 = "vector.broadcast"(%73) : (i32) -> (vector<8xi32>)
        %75 = "arith.muli"(%74, %65) : (vector<8xi32>, vector<8xi32>) -> (vector<8xi32>)
        %76 = "arith.addi"(%62, %75) : (vector<8xi32>, vector<8xi32>) -> (vector<8xi32>)
        "scf.yield"(%70, %76) : (vector<8xi32>, vector<8xi32>) -> ()
      }) : (i64, i64, i64, vector<8xi32>, vector<8xi32>) -> (vector<8xi32>, vector<8xi32>)
      %77 = "llvm.getelementptr"(%4, %11) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%58, %77) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xi32>, !llvm.ptr) -> ()
      %78 = "llvm.getelementptr"(%4, %7) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%59, %78) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xi32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i32, i32, i32) -> ()
    "scf.for"(%11, %12, %6) ({
    ^bb0(%79: i64):
      %80 = "arith.muli"(%79, %7) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %81 = "llvm.getelementptr"(%4, %80) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      %82 = "llvm.load"(%81) <{alignment = 4 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (vector<8xi32>)
      %83 = "arith.muli"(%79, %7) <{overflowFlags = #arith.overflow<nsw>}> : (i64, i64) -> (i64)
      %84 = "llvm.getelementptr"(%2, %83) <{elem_type = i32, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
      "llvm.store"(%82, %84) <{alignment = 4 : i64, ordering = 0 : i64}> : (vector<8xi32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) {passthrough = ["no-builtins"]} : () -> ()
  "func.func"() <{sym_name = "matmul", function_type = (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()}> ({
  ^bb0(%85: !llvm.ptr, %86: !llvm.ptr, %87: !llvm.ptr, %88: i64, %89: i64):
    %90 = "arith.constant"() <{value = 0 : i64}> : () -> (i64)
    %91 = "arith.constant"() <{value = 1 : i64}> : () -> (i64)
    %92 = "arith.constant"() <{value = 2 : i64}> : () -> (i64)
    %93 = "llvm.getelementptr"(%85, %90) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %94 = "llvm.load"(%93) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %95 = "llvm.getelementptr"(%85, %91) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %96 = "llvm.load"(%95) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %97 = "llvm.getelementptr"(%85, %92) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %98 = "llvm.load"(%97) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (!llvm.ptr)
    %99 = "llvm.getelementptr"(%86, %90) <{elem_type = i64, rawConstantIndices = array<i32: -2147483648>, noWrapFlags = 3 : i32}> : (!llvm.ptr, i64) -> (!llvm.ptr)
    %100 = "llvm.load"(%99) <{alignment = 8 : i64, ordering = 0 : i64}> : (!llvm.ptr) -> (i64)
    "scf.for"(%88, %89, %91) ({
    ^bb0(%101: i64):
      "func.call"(%94, %96, %98, %100, %87, %101) <{callee = @"matmul.program"}> : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
