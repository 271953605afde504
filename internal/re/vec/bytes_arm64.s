#include "go_asm.h"
#include "textflag.h"

// See pair_arm64.s.
#define SHRN4(n, d) WORD $(0x0f0c8400 | (n << 5) | d)

// SCAN is the walk over blocks of 16 for fewNEON and setNEON; BLOCK turns V4
// into 0xff for the bytes searched for.
#define SCAN(BLOCK) \
	SUB  $16, R2, R8         \
	MOVD $0, R6              \
loop:                        \
	CMP  R8, R6              \
	BGT  tail                \
block:                       \
	ADD  R1, R6, R3          \
	VLD1 (R3), [V4.B16]      \
	BLOCK                    \
	SHRN4(4, 4)              \
	VMOV V4.D[0], R4         \
	CBNZ R4, hit             \
	ADD  $16, R6, R6         \
	B    loop                \
tail:                        \
	CMP  R2, R6              \
	BGE  none                \
	MOVD R8, R6              \
	B    block               \
hit:                         \
	RBIT R4, R4              \
	CLZ  R4, R4              \
	ADD  R4>>2, R6, R6       \
	MOVD R6, ret+24(FP)      \
	RET                      \
none:                        \
	MOVD $-1, R6             \
	MOVD R6, ret+24(FP)      \
	RET

// func lastByteNEON(p *byte, n int, c byte) int
TEXT ·lastByteNEON(SB), NOSPLIT, $0-32
	MOVD  p+0(FP), R1
	MOVD  n+8(FP), R6
	MOVBU c+16(FP), R3
	VDUP  R3, V0.B16
loop:
	CBZ   R6, none
	SUBS  $16, R6, R6
	CSEL  LT, ZR, R6, R6
	ADD   R1, R6, R4
	VLD1  (R4), [V1.B16]
	VCMEQ V0.B16, V1.B16, V1.B16
	SHRN4(1, 1)
	VMOV  V1.D[0], R5
	CBZ   R5, loop
	CLZ   R5, R5
	ADD   $15, R6, R6
	SUB   R5>>2, R6, R6
	MOVD  R6, ret+24(FP)
	RET
none:
	MOVD  $-1, R6
	MOVD  R6, ret+24(FP)
	RET

// func nonASCIINEON(p *byte, n int) int
//
// R1 p, R2 n, R6 position, R7 and R8 last ones for 64 and 16, R9 high bits.
TEXT ·nonASCIINEON(SB), NOSPLIT, $0-24
	MOVD p+0(FP), R1
	MOVD n+8(FP), R2
	MOVD $0x8080808080808080, R9
	SUB  $64, R2, R7
	SUB  $16, R2, R8
	MOVD $0, R6
loop:
	CMP  R7, R6
	BGT  tail
	ADD  R1, R6, R3
	VLD1 (R3), [V0.B16, V1.B16, V2.B16, V3.B16]
	VORR V0.B16, V1.B16, V0.B16
	VORR V2.B16, V3.B16, V2.B16
	VORR V0.B16, V2.B16, V0.B16
	VMOV V0.D[0], R4
	VMOV V0.D[1], R5
	ORR  R4, R5, R5
	TST  R9, R5
	BNE  tail // finds it again, 16 at a time
	ADD  $64, R6, R6
	B    loop
tail:
	CMP  R2, R6
	BGE  none
	CMP  R8, R6
	CSEL GT, R8, R6, R6
	ADD  R1, R6, R3
	LDP  (R3), (R4, R5)
	ANDS R9, R4, R4
	BNE  hit
	ADD  $8, R6, R6
	ANDS R9, R5, R4
	BNE  hit
	ADD  $8, R6, R6
	B    tail
hit:
	RBIT R4, R4
	CLZ  R4, R4
	ADD  R4>>3, R6, R6
	MOVD R6, ret+16(FP)
	RET
none:
	MOVD $-1, R6
	MOVD R6, ret+16(FP)
	RET

#define FEW \
	VCMEQ V0.B16, V4.B16, V5.B16 \
	VCMEQ V1.B16, V4.B16, V6.B16 \
	VCMEQ V2.B16, V4.B16, V4.B16 \
	VORR  V5.B16, V6.B16, V5.B16 \
	VORR  V5.B16, V4.B16, V4.B16

// func fewNEON(h *half, p *byte, n int) int
TEXT ·fewNEON(SB), NOSPLIT, $0-32
	MOVD  h+0(FP), R0
	MOVD  p+8(FP), R1
	MOVD  n+16(FP), R2
	MOVBU (half_bytes+0)(R0), R3
	VDUP  R3, V0.B16
	MOVBU (half_bytes+1)(R0), R3
	VDUP  R3, V1.B16
	MOVBU (half_bytes+2)(R0), R3
	VDUP  R3, V2.B16
	SCAN(FEW)

// SET looks bytes up as setAVX2 does; VTBL gives 0 for an index over 15, so
// the top bit stays in the index.
#define SET \
	VAND   V9.B16, V4.B16, V5.B16      \
	VTBL   V5.B16, [V0.B16], V6.B16    \
	VEOR   V8.B16, V5.B16, V5.B16      \
	VTBL   V5.B16, [V1.B16], V7.B16    \
	VORR   V6.B16, V7.B16, V6.B16      \
	VUSHR  $4, V4.B16, V4.B16          \
	VTBL   V4.B16, [V2.B16], V4.B16    \
	VCMTST V4.B16, V6.B16, V4.B16

// func setNEON(h *half, p *byte, n int) int
TEXT ·setNEON(SB), NOSPLIT, $0-32
	MOVD h+0(FP), R0
	MOVD p+8(FP), R1
	MOVD n+16(FP), R2
	ADD  $half_low, R0, R3
	VLD1 (R3), [V0.B16]
	ADD  $half_high, R0, R3
	VLD1 (R3), [V1.B16]
	MOVD $0x8040201008040201, R3
	VDUP R3, V2.D2
	MOVD $0x8080808080808080, R3
	VDUP R3, V8.D2
	MOVD $0x8f8f8f8f8f8f8f8f, R3
	VDUP R3, V9.D2
	SCAN(SET)
