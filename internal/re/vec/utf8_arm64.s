#include "go_asm.h"
#include "textflag.h"

// UQSUB d = n - m, not below zero, bytes of V registers.
#define UQSUB(m, n, d) WORD $(0x6e202c00 | (m << 16) | (n << 5) | d)

// func validNEON(t *utf8Tab, p *byte, n int) bool
//
// R1 p, R2 n, R6 position, R7 high bits of the previous block, R9 bit 7. V15 to
// V13 the rows, V12 low halves, V11 and V10 subtrahends that leave bit 7 only of
// leads of three and four bytes, V9 bit 7, V8 errors, V7 the previous block.
TEXT ·validNEON(SB), NOSPLIT, $0-25
	MOVD t+0(FP), R0
	MOVD p+8(FP), R1
	MOVD n+16(FP), R2
	VLD1 (R0), [V15.B16]
	ADD  $32, R0, R0
	VLD1 (R0), [V14.B16]
	ADD  $32, R0, R0
	VLD1 (R0), [V13.B16]
	VMOVI $0x0f, V12.B16
	VMOVI $0x60, V11.B16
	VMOVI $0x70, V10.B16
	VMOVI $0x80, V9.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V7.B16, V7.B16, V7.B16
	MOVD $0x8080808080808080, R9
	MOVD $0, R6
	MOVD $0, R7
loop:
	ADD  R1, R6, R3
	VLD1 (R3), [V0.B16]
	VMOV V0.D[0], R4
	VMOV V0.D[1], R5
	ORR  R4, R5, R4
	AND  R9, R4, R4
	ORR  R4, R7, R5
	MOVD R4, R7
	CBZ  R5, next
	VEXT $15, V0.B16, V7.B16, V2.B16
	VUSHR $4, V2.B16, V3.B16
	VTBL V3.B16, [V15.B16], V3.B16
	VAND V12.B16, V2.B16, V4.B16
	VTBL V4.B16, [V14.B16], V4.B16
	VUSHR $4, V0.B16, V5.B16
	VTBL V5.B16, [V13.B16], V5.B16
	VAND V3.B16, V4.B16, V3.B16
	VAND V3.B16, V5.B16, V3.B16
	VEXT $14, V0.B16, V7.B16, V2.B16
	UQSUB(11, 2, 2)
	VEXT $13, V0.B16, V7.B16, V4.B16
	UQSUB(10, 4, 4)
	VORR V2.B16, V4.B16, V2.B16
	VAND V9.B16, V2.B16, V2.B16
	VEOR V3.B16, V2.B16, V2.B16
	VORR V2.B16, V8.B16, V8.B16
next:
	VMOV V0.B16, V7.B16
	ADD  $16, R6, R6
	CMP  R2, R6
	BLT  loop
	VMOV V8.D[0], R4
	VMOV V8.D[1], R5
	ORR  R4, R5, R4
	CMP  $0, R4
	CSET EQ, R4
	MOVB R4, ret+24(FP)
	RET
