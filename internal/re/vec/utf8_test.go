package vec

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"quarry/internal/stress"
)

// Every pair of bytes, and every lead byte with every second byte and continuation bytes, at
// every position of a block and across its ends.
func TestValidUTF8(t *testing.T) {
	stress.SkipTiny(t)
	var samples [][]byte
	for a := 0x7F; a < 256; a++ {
		for b := 0x7F; b < 256; b++ {
			for _, rest := range []string{"", "\x80", "\xBF\x80", "\x80\x80\x80", "a"} {
				samples = append(samples, append([]byte{byte(a), byte(b)}, rest...))
			}
		}
	}
	hay := make([]byte, 0, 200)
	for _, l := range levels() {
		for i, s := range samples {
			for _, pre := range []string{"", "é", "€uro"} {
				hay = append(hay[:0], pre...)
				hay = append(hay, bytes.Repeat([]byte("x"), i%67)...)
				hay = append(hay, s...)
				hay = append(hay, bytes.Repeat([]byte("я"), i%41)...)
				if got, want := validUTF8(l, hay), utf8.Valid(hay); got != want {
					t.Fatalf("%v: ValidUTF8(%q) = %v", l, hay, got)
				}
			}
		}
	}
}

func TestValidUTF8Random(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	runes := []rune{'a', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF, 'я', '\n'}
	for range 20000 {
		var b []byte
		for range r.IntN(120) {
			b = utf8.AppendRune(b, runes[r.IntN(len(runes))])
		}
		if len(b) > 0 && r.IntN(2) == 0 {
			b[r.IntN(len(b))] = byte(r.IntN(256)) // often an error
		}
		if len(b) > 0 && r.IntN(4) == 0 {
			b = b[r.IntN(len(b)):]
		}
		for _, l := range levels() {
			if got, want := validUTF8(l, b), utf8.Valid(b); got != want {
				t.Fatalf("%v: ValidUTF8(%q) = %v", l, b, got)
			}
		}
	}
}

func BenchmarkValidUTF8(b *testing.B) {
	text := bytes.Repeat([]byte("Шерлок Холмс взглянул на часы. "), 5000)
	for _, l := range levels() {
		b.Run(l.String(), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if !validUTF8(l, text) {
					b.Fatal("not valid")
				}
			}
		})
	}
}
