#include "go_asm.h"
#include "textflag.h"

DATA nibble<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibble<>(SB), RODATA|NOPTR, $8

// The Teddy kernels. Registers:
//	R8  t            SI  p           R9  n           DI  out
//	R10, R11, R13, BX: p + t.off[0..3]
//	AX  position     R12 last position for a whole block
//	0 to 7 tables    8 nibble mask   9 to 13 scratch, 12 the result
//
// As in the pair kernels the last block is moved back to end at n. Positions seen
// twice had no candidate, otherwise the call would have ended there. The prefetch
// is explained there too.

#define POINTERS(width) \
	MOVQ t+0(FP), R8                  \
	MOVQ p+8(FP), SI                  \
	MOVQ n+16(FP), R9                 \
	MOVQ out+24(FP), DI               \
	MOVQ (teddyTab_off+0)(R8), R10    \
	ADDQ SI, R10                      \
	MOVQ (teddyTab_off+8)(R8), R11    \
	ADDQ SI, R11                      \
	MOVQ (teddyTab_off+16)(R8), R13   \
	ADDQ SI, R13                      \
	MOVQ (teddyTab_off+24)(R8), BX    \
	ADDQ SI, BX                       \
	LEAQ -width(R9), R12              \
	XORL AX, AX

// LOOK2 ands into Y12 the buckets that fit the byte at ptr.
#define LOOK2(LOAD, ptr, low, high) \
	LOAD    (ptr)(AX*1), Y9 \
	VPAND   Y9, Y8, Y10     \
	VPSRLW  $4, Y9, Y9      \
	VPAND   Y9, Y8, Y9      \
	VPSHUFB Y10, low, Y10   \
	VPSHUFB Y9, high, Y9    \
	VPAND   Y9, Y10, Y10    \
	VPAND   Y10, Y12, Y12

#define LOOP2(LOAD, width) \
	VPBROADCASTQ nibble<>(SB), Y8  \
	VPXOR   Y13, Y13, Y13          \
loop:                              \
	CMPQ    AX, R12                \
	JGT     tail                   \
block:                             \
	PREFETCHT0 4096(R10)(AX*1)     \
	VPCMPEQB Y12, Y12, Y12         \
	LOOK2(LOAD, R10, Y0, Y1)       \
	LOOK2(LOAD, R11, Y2, Y3)       \
	LOOK2(LOAD, R13, Y4, Y5)       \
	LOOK2(LOAD, BX, Y6, Y7)        \
	VPTEST  Y12, Y12               \
	JNZ     hit                    \
	ADDQ    $width, AX             \
	JMP     loop                   \
tail:                              \
	CMPQ    AX, R9                 \
	JGE     none                   \
	MOVQ    R12, AX                \
	JMP     block                  \
none:                              \
	VZEROUPPER                     \
	MOVQ    $-1, pos+32(FP)        \
	MOVQ    $0, mask+40(FP)        \
	RET                            \
hit:                               \
	VPCMPEQB Y12, Y13, Y13         \
	VPMOVMSKB Y13, CX              \
	NOTL    CX                     \
	VMOVDQU Y12, (DI)              \
	VZEROUPPER                     \
	MOVQ    AX, pos+32(FP)

// func teddyAVX2(t *teddyTab, p *byte, n int, out *[64]byte) (pos int, mask uint64)
TEXT ·teddyAVX2(SB), NOSPLIT, $0-48
	POINTERS(32)
	VMOVDQU (teddyTab_tab+0)(R8), Y0
	VMOVDQU (teddyTab_tab+64)(R8), Y1
	VMOVDQU (teddyTab_tab+128)(R8), Y2
	VMOVDQU (teddyTab_tab+192)(R8), Y3
	VMOVDQU (teddyTab_tab+256)(R8), Y4
	VMOVDQU (teddyTab_tab+320)(R8), Y5
	VMOVDQU (teddyTab_tab+384)(R8), Y6
	VMOVDQU (teddyTab_tab+448)(R8), Y7
	LOOP2(VMOVDQU, 32)
	MOVQ CX, mask+40(FP)
	RET

// FATROW puts the first 8 buckets into the low lane and the others into the
// high one.
#define FATROW(row, X, Y) \
	VMOVDQU (teddyTab_tab+64*row)(R8), X \
	VINSERTI128 $1, (teddyTab_tab+64*row+32)(R8), Y, Y

// func teddyFatAVX2(t *teddyTab, p *byte, n int, out *[64]byte) (pos int, mask uint64)
TEXT ·teddyFatAVX2(SB), NOSPLIT, $0-48
	POINTERS(16)
	FATROW(0, X0, Y0)
	FATROW(1, X1, Y1)
	FATROW(2, X2, Y2)
	FATROW(3, X3, Y3)
	FATROW(4, X4, Y4)
	FATROW(5, X5, Y5)
	FATROW(6, X6, Y6)
	FATROW(7, X7, Y7)
	LOOP2(VBROADCASTI128, 16)
	MOVL CX, DX
	SHRL $16, DX
	ORL  DX, CX
	MOVWLZX CX, CX
	MOVQ CX, mask+40(FP)
	RET

#define LOOK5(LOAD, ptr, low, high) \
	LOAD    (ptr)(AX*1), Z9 \
	VPANDQ  Z9, Z8, Z10     \
	VPSRLW  $4, Z9, Z9      \
	VPANDQ  Z9, Z8, Z9      \
	VPSHUFB Z10, low, Z10   \
	VPSHUFB Z9, high, Z9    \
	VPTERNLOGQ $0x80, Z9, Z10, Z12

#define LOOP5(LOAD, width) \
	VPBROADCASTQ nibble<>(SB), Z8     \
	VMOVDQU64 (teddyTab_tab+0)(R8), Z0   \
	VMOVDQU64 (teddyTab_tab+64)(R8), Z1  \
	VMOVDQU64 (teddyTab_tab+128)(R8), Z2 \
	VMOVDQU64 (teddyTab_tab+192)(R8), Z3 \
	VMOVDQU64 (teddyTab_tab+256)(R8), Z4 \
	VMOVDQU64 (teddyTab_tab+320)(R8), Z5 \
	VMOVDQU64 (teddyTab_tab+384)(R8), Z6 \
	VMOVDQU64 (teddyTab_tab+448)(R8), Z7 \
loop:                              \
	CMPQ    AX, R12                \
	JGT     tail                   \
block:                             \
	PREFETCHT0 4096(R10)(AX*1)     \
	VPTERNLOGD $0xff, Z12, Z12, Z12 \
	LOOK5(LOAD, R10, Z0, Z1)       \
	LOOK5(LOAD, R11, Z2, Z3)       \
	LOOK5(LOAD, R13, Z4, Z5)       \
	LOOK5(LOAD, BX, Z6, Z7)        \
	VPTESTMB Z12, Z12, K1          \
	KORTESTQ K1, K1                \
	JNZ     hit                    \
	ADDQ    $width, AX             \
	JMP     loop                   \
tail:                              \
	CMPQ    AX, R9                 \
	JGE     none                   \
	MOVQ    R12, AX                \
	JMP     block                  \
none:                              \
	VZEROUPPER                     \
	MOVQ    $-1, pos+32(FP)        \
	MOVQ    $0, mask+40(FP)        \
	RET                            \
hit:                               \
	KMOVQ   K1, CX                 \
	VMOVDQU64 Z12, (DI)            \
	VZEROUPPER                     \
	MOVQ    AX, pos+32(FP)

// func teddyAVX512(t *teddyTab, p *byte, n int, out *[64]byte) (pos int, mask uint64)
TEXT ·teddyAVX512(SB), NOSPLIT, $0-48
	POINTERS(64)
	LOOP5(VMOVDQU64, 64)
	MOVQ CX, mask+40(FP)
	RET

// func teddyFatAVX512(t *teddyTab, p *byte, n int, out *[64]byte) (pos int, mask uint64)
TEXT ·teddyFatAVX512(SB), NOSPLIT, $0-48
	POINTERS(32)
	LOOP5(VBROADCASTI64X4, 32)
	MOVQ CX, DX
	SHRQ $32, DX
	ORL  DX, CX
	MOVQ CX, mask+40(FP)
	RET
