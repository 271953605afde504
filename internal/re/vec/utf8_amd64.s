#include "go_asm.h"
#include "textflag.h"

// func validAVX2(t *utf8Tab, p *byte, n int) bool
//
// SI p, R9 n, AX position, BX high bits of the previous block. Y15 to Y13 the
// rows, Y12 low halves, Y11 and Y10 subtrahends that leave bit 7 only of leads of
// three and four bytes, Y9 bit 7, Y8 errors, Y7 the previous block.
TEXT ·validAVX2(SB), NOSPLIT, $0-25
	MOVQ t+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), R9
	VMOVDQU (DI), Y15
	VMOVDQU 32(DI), Y14
	VMOVDQU 64(DI), Y13
	MOVL $0x0f0f0f0f, CX
	MOVQ CX, X12
	VPBROADCASTB X12, Y12
	MOVL $0x60606060, CX
	MOVQ CX, X11
	VPBROADCASTB X11, Y11
	MOVL $0x70707070, CX
	MOVQ CX, X10
	VPBROADCASTB X10, Y10
	MOVL $0x80808080, CX
	MOVQ CX, X9
	VPBROADCASTB X9, Y9
	VPXOR Y8, Y8, Y8
	VPXOR Y7, Y7, Y7
	XORL AX, AX
	XORL BX, BX
loop:
	VMOVDQU (SI)(AX*1), Y0
	PREFETCHT0 4096(SI)(AX*1) // see pair_amd64.s
	VPMOVMSKB Y0, CX
	ORL  CX, BX
	MOVL CX, BX
	JZ   next // flags of ORL: ASCII after ASCII
	VPERM2I128 $0x21, Y0, Y7, Y1
	VPALIGNR $15, Y1, Y0, Y2
	VPSRLW $4, Y2, Y3
	VPAND Y12, Y3, Y3
	VPSHUFB Y3, Y15, Y3
	VPAND Y12, Y2, Y4
	VPSHUFB Y4, Y14, Y4
	VPSRLW $4, Y0, Y5
	VPAND Y12, Y5, Y5
	VPSHUFB Y5, Y13, Y5
	VPAND Y3, Y4, Y3
	VPAND Y3, Y5, Y3
	VPALIGNR $14, Y1, Y0, Y2
	VPSUBUSB Y11, Y2, Y2
	VPALIGNR $13, Y1, Y0, Y4
	VPSUBUSB Y10, Y4, Y4
	VPOR Y2, Y4, Y2
	VPAND Y9, Y2, Y2
	VPXOR Y3, Y2, Y2
	VPOR Y2, Y8, Y8
next:
	VMOVDQA Y0, Y7
	ADDQ $32, AX
	CMPQ AX, R9
	JLT  loop
	VPTEST Y8, Y8
	SETEQ ret+24(FP)
	VZEROUPPER
	RET
