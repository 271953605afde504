#include "go_asm.h"
#include "textflag.h"

// func lastByteAVX2(p *byte, n int, c byte) int
//
// Walks back from the end; the first block usually suffices, since this searches
// for the start of a line. SI p, AX end of the next block.
TEXT ·lastByteAVX2(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), AX
	VPBROADCASTB c+16(FP), Y0
	VPCMPEQB -32(SI)(AX*1), Y0, Y1
	SUBQ $32, AX
	VPMOVMSKB Y1, BX
	TESTL BX, BX
	JNZ  hit
loop:
	CMPQ AX, $128
	JLT  tail
	VPCMPEQB -32(SI)(AX*1), Y0, Y1
	VPCMPEQB -64(SI)(AX*1), Y0, Y2
	VPCMPEQB -96(SI)(AX*1), Y0, Y3
	VPCMPEQB -128(SI)(AX*1), Y0, Y4
	VPOR Y1, Y2, Y5
	VPOR Y3, Y4, Y6
	VPOR Y5, Y6, Y5
	VPTEST Y5, Y5
	JNZ  tail // finds it again, one block at a time
	ADDQ $-128, AX
	JMP  loop
tail:
	TESTQ AX, AX
	JZ   none
	XORL DX, DX
	SUBQ $32, AX
	CMOVQLT DX, AX
	VPCMPEQB (SI)(AX*1), Y0, Y1
	VPMOVMSKB Y1, BX
	TESTL BX, BX
	JZ   tail
hit:
	VZEROUPPER
	BSRL BX, BX
	ADDQ BX, AX
	MOVQ AX, ret+24(FP)
	RET
none:
	VZEROUPPER
	MOVQ $-1, ret+24(FP)
	RET

// func nonASCIIAVX2(p *byte, n int) int
TEXT ·nonASCIIAVX2(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), R9
	LEAQ -128(R9), R12
	LEAQ -32(R9), R13
	XORL AX, AX
loop:
	CMPQ AX, R12
	JGT  tail
	PREFETCHT0 4096(SI)(AX*1) // see pair_amd64.s
	PREFETCHT0 4160(SI)(AX*1)
	VMOVDQU (SI)(AX*1), Y1
	VMOVDQU 64(SI)(AX*1), Y2
	VPOR 32(SI)(AX*1), Y1, Y1
	VPOR 96(SI)(AX*1), Y2, Y2
	VPOR Y1, Y2, Y1
	VPMOVMSKB Y1, BX
	TESTL BX, BX
	JNZ  tail
	SUBQ $-128, AX
	JMP  loop
tail:
	CMPQ AX, R9
	JGE  none
	CMPQ AX, R13
	CMOVQGT R13, AX
	VMOVDQU (SI)(AX*1), Y1
	VPMOVMSKB Y1, BX
	TESTL BX, BX
	JNZ  hit
	ADDQ $32, AX
	JMP  tail
hit:
	VZEROUPPER
	BSFL BX, BX
	ADDQ BX, AX
	MOVQ AX, ret+16(FP)
	RET
none:
	VZEROUPPER
	MOVQ $-1, ret+16(FP)
	RET

// func fewAVX2(h *half, p *byte, n int) int
//
// Compares with each of three bytes; of two, the second counts twice.
#define FEW(d, out, tmp) \
	VMOVDQU  d(SI)(AX*1), tmp \
	VPCMPEQB tmp, Y0, out     \
	VPCMPEQB tmp, Y1, Y8      \
	VPCMPEQB tmp, Y2, Y9      \
	VPOR     Y8, out, out     \
	VPOR     Y9, out, out

TEXT ·fewAVX2(SB), NOSPLIT, $0-32
	MOVQ h+0(FP), R8
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), R9
	VPBROADCASTB (half_bytes+0)(R8), Y0
	VPBROADCASTB (half_bytes+1)(R8), Y1
	VPBROADCASTB (half_bytes+2)(R8), Y2
	LEAQ -64(R9), R12
	LEAQ -32(R9), R13
	XORL AX, AX
loop:
	CMPQ AX, R12
	JGT  tail
	PREFETCHT0 4096(SI)(AX*1)
	FEW(0, Y3, Y4)
	FEW(32, Y5, Y6)
	VPOR Y3, Y5, Y7
	VPTEST Y7, Y7
	JNZ  both
	ADDQ $64, AX
	JMP  loop
both:
	VPMOVMSKB Y3, BX
	VPMOVMSKB Y5, CX
	SHLQ $32, CX
	ORQ  CX, BX
	JMP  hit
tail:
	CMPQ AX, R9
	JGE  none
	CMPQ AX, R13
	CMOVQGT R13, AX
	FEW(0, Y3, Y4)
	VPMOVMSKB Y3, BX
	TESTL BX, BX
	JNZ  hit
	ADDQ $32, AX
	JMP  tail
hit:
	VZEROUPPER
	BSFQ BX, BX
	ADDQ BX, AX
	MOVQ AX, ret+24(FP)
	RET
none:
	VZEROUPPER
	MOVQ $-1, ret+24(FP)
	RET

DATA nibbles<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibbles<>(SB), RODATA|NOPTR, $8

// bitOf maps a high nibble to its bit within half.low or half.high.
DATA bitOf<>+0(SB)/8, $0x8040201008040201
DATA bitOf<>+8(SB)/8, $0x8040201008040201
GLOBL bitOf<>(SB), RODATA|NOPTR, $16

DATA top<>+0(SB)/8, $0x8080808080808080
GLOBL top<>(SB), RODATA|NOPTR, $8

// func setAVX2(h *half, p *byte, n int) int
//
// VPSHUFB gives 0 for an index with its top bit set. So the bytes below 0x80
// index half.low unchanged, the others half.high after flipping that bit, and the
// two results never overlap. A byte is in the set if the bit of its high nibble is
// set in its row: SET leaves 0xff where it is not.
#define SET(d, out, tmp) \
	VMOVDQU  d(SI)(AX*1), tmp \
	VPSHUFB  tmp, Y0, out     \
	VPXOR    tmp, Y4, Y8      \
	VPSHUFB  Y8, Y1, Y8       \
	VPOR     Y8, out, out     \
	VPSRLW   $4, tmp, tmp     \
	VPAND    tmp, Y3, tmp     \
	VPSHUFB  tmp, Y2, tmp     \
	VPAND    tmp, out, out    \
	VPCMPEQB out, Y5, out

TEXT ·setAVX2(SB), NOSPLIT, $0-32
	MOVQ h+0(FP), R8
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), R9
	VBROADCASTI128 half_low(R8), Y0
	VBROADCASTI128 half_high(R8), Y1
	VBROADCASTI128 bitOf<>(SB), Y2
	VPBROADCASTQ nibbles<>(SB), Y3
	VPBROADCASTQ top<>(SB), Y4
	VPXOR Y5, Y5, Y5
	LEAQ -64(R9), R12
	LEAQ -32(R9), R13
	XORL AX, AX
loop:
	CMPQ AX, R12
	JGT  tail
	PREFETCHT0 4096(SI)(AX*1)
	SET(0, Y6, Y7)
	SET(32, Y9, Y10)
	VPMOVMSKB Y6, BX
	VPMOVMSKB Y9, CX
	SHLQ $32, CX
	ORQ  CX, BX
	NOTQ BX
	TESTQ BX, BX
	JNZ  hit
	ADDQ $64, AX
	JMP  loop
tail:
	CMPQ AX, R9
	JGE  none
	CMPQ AX, R13
	CMOVQGT R13, AX
	SET(0, Y6, Y7)
	VPMOVMSKB Y6, BX
	NOTL BX
	TESTL BX, BX
	JNZ  hit
	ADDQ $32, AX
	JMP  tail
hit:
	VZEROUPPER
	BSFQ BX, BX
	ADDQ BX, AX
	MOVQ AX, ret+24(FP)
	RET
none:
	VZEROUPPER
	MOVQ $-1, ret+24(FP)
	RET
