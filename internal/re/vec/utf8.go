package vec

import "unicode/utf8"

// ValidUTF8 reports whether b is entirely UTF-8, as utf8.Valid does.
//
// Every error is visible in two adjacent bytes, or in the third or fourth byte of a sequence: a
// continuation byte is missing, or there is one too many (Keiser and Lemire, "Validating UTF-8 in
// less than one instruction per byte"). For each pair of bytes there are three look-ups: by both
// halves of the first byte and by the high half of the second. Each returns the errors that this
// half allows, as bits; an error in all three results has occurred.
func ValidUTF8(b []byte) bool { return validUTF8(current(), b) }

func validUTF8(l level, b []byte) bool {
	i := indexNonASCII(l, b)
	if i < 0 {
		return true
	}
	b = b[i:]
	n := len(b) &^ (validBlock - 1)
	if l < neon || n == 0 {
		return utf8.Valid(b)
	}
	if !validBlocks(b[:n]) {
		return false
	}
	// The last sequence in the blocks may continue after them.
	for back := 1; back <= 3; back++ {
		if utf8.RuneStart(b[n-back]) {
			n -= back
			break
		}
	}
	return utf8.Valid(b[n:])
}

// validBlock is the number of bytes the kernels read at a time.
const validBlock = 32

// Errors of two adjacent bytes.
const (
	tooShort  = 1 << iota // a lead byte or ASCII instead of a continuation byte
	tooLong               // a continuation byte after ASCII
	overlong3             // E0 followed by less than A0
	tooLarge              // F4 followed by 90 or more
	surrogate             // ED followed by A0 or more
	overlong2             // C0 or C1
	tooLarge8             // F5 and above; also overlong4, F0 followed by less than 90
	twoConts              // two continuation bytes: valid only after some lead bytes

	carry = tooShort | tooLong | twoConts // errors that depend on the other halves only
)

// utf8Tab is the input of the kernels. The assembly depends on its layout. Each row is
// doubled, for registers of 32 bytes.
type utf8Tab [3][32]byte

var utf8Errors = func() (t utf8Tab) {
	for i := range 32 {
		t[0][i] = firstHigh(i & 15)
		t[1][i] = firstLow(i & 15)
		t[2][i] = secondHigh(i & 15)
	}
	return t
}()

// firstHigh returns the errors that h, the high half of the first byte, allows.
func firstHigh(h int) byte {
	switch {
	case h < 8:
		return tooLong
	case h < 0xC:
		return twoConts
	case h == 0xC:
		return tooShort | overlong2
	case h == 0xD:
		return tooShort
	case h == 0xE:
		return tooShort | overlong3 | surrogate
	}
	return tooShort | tooLarge | tooLarge8
}

func firstLow(h int) byte {
	switch {
	case h == 0:
		return carry | overlong2 | overlong3 | tooLarge8
	case h == 1:
		return carry | overlong2
	case h < 4:
		return carry
	case h == 4:
		return carry | tooLarge
	case h == 0xD:
		return carry | tooLarge | tooLarge8 | surrogate
	}
	return carry | tooLarge | tooLarge8
}

func secondHigh(h int) byte {
	const cont = tooLong | overlong2 | twoConts
	switch h {
	case 8:
		return cont | overlong3 | tooLarge8
	case 9:
		return cont | overlong3 | tooLarge
	case 0xA, 0xB:
		return cont | surrogate | tooLarge
	}
	return tooShort
}
