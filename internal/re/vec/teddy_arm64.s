#include "go_asm.h"
#include "textflag.h"

// The Teddy kernels. Registers:
//	R0  t            R1  p           R2  n           R3  out
//	R4 to R7 p + t.off[0..3]
//	R8  position     R9  last position for a whole block
//	V16 to V23 tables of the first 8 buckets, V24 to V31 of the others
//	V0  nibble mask  V12 the result for the first 8 buckets, V13 for the others

#define POINTERS \
	MOVD t+0(FP), R0                \
	MOVD p+8(FP), R1                \
	MOVD n+16(FP), R2               \
	MOVD out+24(FP), R3             \
	MOVD (teddyTab_off+0)(R0), R4   \
	ADD  R1, R4, R4                 \
	MOVD (teddyTab_off+8)(R0), R5   \
	ADD  R1, R5, R5                 \
	MOVD (teddyTab_off+16)(R0), R6  \
	ADD  R1, R6, R6                 \
	MOVD (teddyTab_off+24)(R0), R7  \
	ADD  R1, R7, R7                 \
	MOVD $0, R8                     \
	SUB  $16, R2, R9                \
	MOVD $0x0f0f0f0f0f0f0f0f, R10   \
	VDUP R10, V0.D2

// ROW loads a row of the tables from R10 and moves on to the next.
#define ROW(v) \
	VLD1 (R10), [v.B16] \
	ADD  $64, R10, R10

#define ROWS(from, a, b, c, d, e, f, g, h) \
	ADD $(teddyTab_tab + from), R0, R10 \
	ROW(a) \
	ROW(b) \
	ROW(c) \
	ROW(d) \
	ROW(e) \
	ROW(f) \
	ROW(g) \
	ROW(h)

// NIBBLES loads the text at ptr: V1 has the low halves, V2 the high ones.
#define NIBBLES(ptr) \
	ADD   ptr, R8, R10           \
	VLD1  (R10), [V2.B16]        \
	VAND  V0.B16, V2.B16, V1.B16 \
	VUSHR $4, V2.B16, V2.B16

// LOOK ands into res the buckets that fit V1 and V2.
#define LOOK(low, high, res) \
	VTBL V1.B16, [low.B16], V3.B16  \
	VTBL V2.B16, [high.B16], V4.B16 \
	VAND V3.B16, V4.B16, V3.B16     \
	VAND V3.B16, res.B16, res.B16

// WALK visits the blocks; BLOCK sets V5 to nonzero bytes at candidates. The last
// block is moved back to end at n. Positions seen twice had no candidate,
// otherwise the call would have ended there.
#define WALK(BLOCK) \
loop:                           \
	CMP  R9, R8                 \
	BGT  tail                   \
block:                          \
	BLOCK                       \
	VMOV V5.D[0], R10           \
	VMOV V5.D[1], R11           \
	ORR  R10, R11, R10          \
	CBNZ R10, hit               \
	ADD  $16, R8, R8            \
	B    loop                   \
tail:                           \
	CMP  R2, R8                 \
	BGE  none                   \
	MOVD R9, R8                 \
	B    block                  \
none:                           \
	MOVD $-1, R8                \
	MOVD R8, pos+32(FP)         \
	MOVD ZR, mask+40(FP)        \
	RET                         \
hit:

// RETURN converts each byte of V5 to one bit: each keeps its bit of eight, and
// neighbours are added three times.
#define RETURN \
	VCMTST V5.B16, V5.B16, V5.B16   \
	MOVD   $0x8040201008040201, R10 \
	VDUP   R10, V6.D2               \
	VAND   V6.B16, V5.B16, V5.B16   \
	VADDP  V5.B16, V5.B16, V5.B16   \
	VADDP  V5.B16, V5.B16, V5.B16   \
	VADDP  V5.B16, V5.B16, V5.B16   \
	VMOV   V5.H[0], R10             \
	MOVD   R8, pos+32(FP)           \
	MOVD   R10, mask+40(FP)         \
	RET

#define SLIM \
	VCMEQ V12.B16, V12.B16, V12.B16 \
	NIBBLES(R4)          \
	LOOK(V16, V17, V12)  \
	NIBBLES(R5)          \
	LOOK(V18, V19, V12)  \
	NIBBLES(R6)          \
	LOOK(V20, V21, V12)  \
	NIBBLES(R7)          \
	LOOK(V22, V23, V12)  \
	VORR V12.B16, V12.B16, V5.B16

// func teddyNEON(t *teddyTab, p *byte, n int, out *[64]byte) (pos int, mask uint64)
TEXT ·teddyNEON(SB), NOSPLIT, $0-48
	POINTERS
	ROWS(0, V16, V17, V18, V19, V20, V21, V22, V23)
	WALK(SLIM)
	VST1 [V12.B16], (R3)
	RETURN

#define FAT \
	VCMEQ V12.B16, V12.B16, V12.B16 \
	VCMEQ V13.B16, V13.B16, V13.B16 \
	NIBBLES(R4)          \
	LOOK(V16, V17, V12)  \
	LOOK(V24, V25, V13)  \
	NIBBLES(R5)          \
	LOOK(V18, V19, V12)  \
	LOOK(V26, V27, V13)  \
	NIBBLES(R6)          \
	LOOK(V20, V21, V12)  \
	LOOK(V28, V29, V13)  \
	NIBBLES(R7)          \
	LOOK(V22, V23, V12)  \
	LOOK(V30, V31, V13)  \
	VORR V12.B16, V13.B16, V5.B16

// func teddyFatNEON(t *teddyTab, p *byte, n int, out *[64]byte) (pos int, mask uint64)
TEXT ·teddyFatNEON(SB), NOSPLIT, $0-48
	POINTERS
	ROWS(0, V16, V17, V18, V19, V20, V21, V22, V23)
	ROWS(32, V24, V25, V26, V27, V28, V29, V30, V31)
	WALK(FAT)
	VST1 [V12.B16, V13.B16], (R3)
	RETURN
