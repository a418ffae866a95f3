" SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
" Vim syntax of .gemm files. tests/editors holds the words to the tables of the compiler.
if exists("b:current_syntax")
	finish
endif

syn match gemmComment "//.*$" contains=@Spell
syn region gemmComment start="/\*" end="\*/" contains=@Spell
syn region gemmString start=+"+ skip=+\\.+ end=+"\|$+
syn match gemmNumber "\<\(0[xX]\x\+\|\d\+\(\.\d\+\)\?\([eE][+-]\?\d\+\)\?\)\>"
syn match gemmOperator "<-\|+=\|\.\.\|&&\|||\|[=!<>]=\|[-+*%!<>=@:]\|/\ze[^/*]"

syn keyword gemmDeclaration kernel const let layout mma smem tma copy pipeline
syn keyword gemmControl for in out inout constant from via where target
syn keyword gemmCheck static_assert print
syn keyword gemmCompose o
syn keyword gemmTemplate Sw Swizzle wgmma mma_sync
syn keyword gemmType s8 i8 u8 s16 i16 u16 s32 i32 u32 s64 i64 u64 f16 bf16 tf32 f32 f64 e4m3 e5m2 s4 u4 e2m1
syn keyword gemmFunction neg abs add sub mul div min max fma sqrt rsqrt exp2 exp2_approx
syn keyword gemmFunction relu square clamp lt le gt ge eq ne select exp log
syn keyword gemmFunction logic_and logic_or logic_not modulo mulhi bit_and bit_or bit_xor bit_not shl shr
syn keyword gemmFunction log2 pow sigmoid tanh tanh_approx erf softplus silu gelu
syn keyword gemmFunction gelu_tanh hardswish leaky_relu drelu dsigmoid dtanh
syn keyword gemmFunction dsilu dgelu dgelu_tanh
syn keyword gemmFunction make_layout make_layout_left make_layout_right
syn keyword gemmFunction make_ordered_layout make_layout_like make_identity_layout
syn keyword gemmFunction make_composed_layout make_layout_tv get_shape get_stride size
syn keyword gemmFunction cosize rank depth coalesce filter_zeros filter flatten
syn keyword gemmFunction group_modes select get append prepend slice dice
syn keyword gemmFunction slice_and_offset crd2idx idx2crd increment_coord domain_offset
syn keyword gemmFunction composition complement right_inverse left_inverse nullspace
syn keyword gemmFunction max_common_layout max_common_vector with_shape logical_divide
syn keyword gemmFunction zipped_divide tiled_divide flat_divide logical_product
syn keyword gemmFunction zipped_product tiled_product flat_product blocked_product
syn keyword gemmFunction raked_product tile_to_shape local_tile local_partition
syn keyword gemmFunction recast_layout upcast downcast ceil_div shape_div tuple_add
syn keyword gemmFunction tuple_sub product product_each elem_less equal congruent
syn keyword gemmFunction weakly_congruent compatible fast promote
syn keyword gemmFunction load store multicast cache cp_async simt bytes threads values groups rows tile coord pick by every

" Words of a schedule are names elsewhere.
syn keyword gemmSchedule schedule nextgroup=gemmClauses skipwhite skipempty
syn region gemmClauses start="{" end="}" contained extend
	\ contains=gemmClauses,gemmClause,gemmInner,gemmWord,gemmComment,gemmNumber,gemmOperator
syn keyword gemmClause contained cluster multicast persistent group roles
syn keyword gemmClause contained stages inflight staging subtile threads pdl deterministic overlap swap split_k sums ctas
syn keyword gemmInner contained along producer consumer warp warps warpgroup
syn keyword gemmInner contained warpgroups regs
syn keyword gemmWord contained none cooperative pingpong dynamic cluster workspace auto slice leader off
syn keyword gemmWord contained on

hi def link gemmComment Comment
hi def link gemmString String
hi def link gemmNumber Number
hi def link gemmOperator Operator
hi def link gemmDeclaration Keyword
hi def link gemmControl Statement
hi def link gemmSchedule Keyword
hi def link gemmCheck PreProc
hi def link gemmCompose Operator
hi def link gemmTemplate Type
hi def link gemmType Type
hi def link gemmFunction Function
hi def link gemmClause Statement
hi def link gemmInner Label
hi def link gemmWord Constant

let b:current_syntax = "gemm"
