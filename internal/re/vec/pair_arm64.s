#include "go_asm.h"
#include "textflag.h"

// SHRN4 is SHRN Vd.8B, Vn.8H, #4, which the assembler lacks: it converts a
// vector with 0xff or 0 in each byte to 64 bits, four per byte.
#define SHRN4(n, d) WORD $(0x0f0c8400 | (n << 5) | d)

// The pair kernels. Registers:
//	R0  k            R1  p            R2  n
//	R3  p+off1       R4  p+off2       R5  needle length
//	R6  position of the next block    R7  last one for a whole block of 64
//	R8  0x8888888888888888, one bit of the four of each byte
//	R9  position of the block whose candidates are in R10, those of the three
//	    blocks of 16 after it in R11, R12, R13
//	R19 to R22 first, firstMask, last, lastMask
//	V0, V1 rare bytes    V2, V3 masks    V4 to V12 scratch

#define PROLOGUE \
	MOVD  k+0(FP), R0             \
	MOVD  p+8(FP), R1             \
	MOVD  n+16(FP), R2            \
	MOVD  pair_off1(R0), R3       \
	ADD   R1, R3, R3              \
	MOVD  pair_off2(R0), R4       \
	ADD   R1, R4, R4              \
	MOVD  pair_n(R0), R5          \
	MOVD  pair_first(R0), R19     \
	MOVD  pair_firstMask(R0), R20 \
	MOVD  pair_last(R0), R21      \
	MOVD  pair_lastMask(R0), R22  \
	MOVD  $0x8888888888888888, R8 \
	MOVBU pair_b1(R0), R14        \
	VDUP  R14, V0.B16             \
	MOVBU pair_b2(R0), R14        \
	VDUP  R14, V1.B16             \
	MOVBU pair_m1(R0), R14        \
	VDUP  R14, V2.B16             \
	MOVBU pair_m2(R0), R14        \
	VDUP  R14, V3.B16             \
	MOVD  $0, R6                  \
	SUB   $64, R2, R7

// CAND sets a to the candidates, given the text at the two rare bytes in a and b.
#define CAND(a, b) \
	VCMEQ a.B16, V0.B16, a.B16 \
	VCMEQ b.B16, V1.B16, b.B16 \
	VAND  a.B16, b.B16, a.B16

#define CANDFOLD(a, b) \
	VORR a.B16, V2.B16, a.B16 \
	VORR b.B16, V3.B16, b.B16 \
	CAND(a, b)

// VERIFY compares both ends of the needle at R15 and jumps to found or fail.
#define VERIFY(v4, v2, fail, found) \
	ADD   R5, R15, R16           \
	CMP   $8, R5                 \
	BLT   v4                     \
	MOVD  (R15), R17             \
	ORR   R20, R17, R17          \
	CMP   R19, R17               \
	BNE   fail                   \
	MOVD  -8(R16), R17           \
	ORR   R22, R17, R17          \
	CMP   R21, R17               \
	BEQ   found                  \
	B     fail                   \
v4:                              \
	CMP   $4, R5                 \
	BLT   v2                     \
	MOVWU (R15), R17             \
	ORR   R20, R17, R17          \
	CMP   R19, R17               \
	BNE   fail                   \
	MOVWU -4(R16), R17           \
	ORR   R22, R17, R17          \
	CMP   R21, R17               \
	BEQ   found                  \
	B     fail                   \
v2:                              \
	MOVHU (R15), R17             \
	ORR   R20, R17, R17          \
	CMP   R19, R17               \
	BNE   fail                   \
	MOVHU -2(R16), R17           \
	ORR   R22, R17, R17          \
	CMP   R21, R17               \
	BEQ   found                  \
	B     fail

#define BODY(CAND) \
loop:                              \
	CMP   R7, R6                   \
	BGT   tail                     \
	ADD   R3, R6, R14              \
	VLD1  (R14), [V4.B16, V5.B16, V6.B16, V7.B16]   \
	ADD   R4, R6, R15              \
	VLD1  (R15), [V8.B16, V9.B16, V10.B16, V11.B16] \
	CAND(V4, V8)                   \
	CAND(V5, V9)                   \
	CAND(V6, V10)                  \
	CAND(V7, V11)                  \
	VORR  V4.B16, V5.B16, V8.B16   \
	VORR  V6.B16, V7.B16, V9.B16   \
	VORR  V8.B16, V9.B16, V8.B16   \
	SHRN4(8, 8)                    \
	VMOV  V8.D[0], R10             \
	ADD   $64, R6, R6              \
	CBZ   R10, loop                \
	SUB   $64, R6, R9              \
	SHRN4(4, 4)                    \
	SHRN4(5, 5)                    \
	SHRN4(6, 6)                    \
	SHRN4(7, 7)                    \
	VMOV  V4.D[0], R10             \
	VMOV  V5.D[0], R11             \
	VMOV  V6.D[0], R12             \
	VMOV  V7.D[0], R13             \
	AND   R8, R10, R10             \
	AND   R8, R11, R11             \
	AND   R8, R12, R12             \
	AND   R8, R13, R13             \
masks:                             \
	CBZ   R10, following           \
	RBIT  R10, R14                 \
	CLZ   R14, R14                 \
	ADD   R14>>2, R9, R15          \
	ADD   R1, R15, R15             \
	VERIFY(v4, v2, fail, found)    \
fail:                              \
	SUB   $1, R10, R14             \
	AND   R14, R10, R10            \
	B     masks                    \
following:                         \
	MOVD  R11, R10                 \
	MOVD  R12, R11                 \
	MOVD  R13, R12                 \
	MOVD  $0, R13                  \
	ADD   $16, R9, R9              \
	ORR   R10, R11, R14            \
	ORR   R12, R14, R14            \
	CBNZ  R14, masks               \
	B     loop                     \
tail:                              \
	CMP   R2, R6                   \
	BGE   none                     \
	SUB   $16, R2, R14             \
	CMP   R14, R6                  \
	CSEL  GT, R14, R6, R6          \
	ADD   R3, R6, R14              \
	VLD1  (R14), [V4.B16]          \
	ADD   R4, R6, R15              \
	VLD1  (R15), [V8.B16]          \
	CAND(V4, V8)                   \
	SHRN4(4, 4)                    \
	VMOV  V4.D[0], R10             \
	MOVD  R6, R9                   \
	ADD   $16, R6, R6              \
	AND   R8, R10, R10             \
	CBZ   R10, tail                \
	MOVD  $0, R11                  \
	MOVD  $0, R12                  \
	MOVD  $0, R13                  \
	B     masks                    \
none:                              \
	MOVD  $-1, R0                  \
	MOVD  R0, ret+24(FP)           \
	RET                            \
found:                             \
	SUB   R1, R15, R0              \
	MOVD  R0, ret+24(FP)           \
	RET

// func pairNEON(k *pair, p *byte, n int) int
TEXT ·pairNEON(SB), NOSPLIT, $0-32
	PROLOGUE
	BODY(CAND)

// func pairFoldNEON(k *pair, p *byte, n int) int
TEXT ·pairFoldNEON(SB), NOSPLIT, $0-32
	PROLOGUE
	BODY(CANDFOLD)
