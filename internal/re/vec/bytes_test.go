package vec

import (
	"bytes"
	"math/rand/v2"
	"quarry/internal/stress"
	"testing"
)

func TestLastIndexByte(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	buf := bytes.Repeat([]byte{'x'}, 600)
	for _, l := range levels() {
		for size := range 201 {
			for _, start := range []int{0, 1, 31} {
				b := buf[start : start+size]
				if got := lastIndexByte(l, b, '\n'); got != -1 {
					t.Fatalf("%v: %d bytes without a newline: %d", l, size, got)
				}
				for at := range size {
					b[at] = '\n'
					if got := lastIndexByte(l, b, '\n'); got != at {
						t.Fatalf("%v: last newline of %q = %d, want %d", l, b, got, at)
					}
					b[at] = 'x'
				}
			}
		}
		for range 500 {
			b := random(r, r.IntN(600), "\n\x0b\x8a\x00x")
			if got, want := lastIndexByte(l, b, '\n'), bytes.LastIndexByte(b, '\n'); got != want {
				t.Fatalf("%v: last newline of %q = %d, want %d", l, b, got, want)
			}
		}
	}
}

func TestCountByteAndIndexByte(t *testing.T) {
	b := []byte("one\ntwo\n\nfour")
	if got := CountByte(b, '\n'); got != 3 {
		t.Errorf("CountByte = %d, want 3", got)
	}
	for _, c := range []struct{ from, want int }{{0, 3}, {3, 3}, {4, 7}, {9, -1}, {13, -1}, {14, -1}, {-1, -1}} {
		if got := IndexByte(b, '\n', c.from); got != c.want {
			t.Errorf("IndexByte from %d = %d, want %d", c.from, got, c.want)
		}
	}
}

func TestIndexNonASCII(t *testing.T) {
	buf := bytes.Repeat([]byte{0x7f}, 600)
	for _, l := range levels() {
		for size := range 301 {
			b := buf[size%5 : size%5+size]
			if got := indexNonASCII(l, b); got != -1 {
				t.Fatalf("%v: %d bytes of ASCII: %d", l, size, got)
			}
			for at := range size {
				b[at] = 0x80
				b[size-1] |= 0x80 // an earlier one must be found first
				if got := indexNonASCII(l, b); got != at {
					t.Fatalf("%v: %d bytes, non-ASCII at %d: got %d", l, size, at, got)
				}
				b[at], b[size-1] = 0x7f, 0x7f
			}
		}
	}
	if IndexNonASCII([]byte("plain")) != -1 || IndexNonASCII([]byte("naïve")) != 2 {
		t.Error("IndexNonASCII is wrong")
	}
}

func TestByteSet(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for i := range stress.Fewer(800) {
		var set [256]bool
		members := []int{0, 1, 2, 3, 4, 20, 128, 253, 254, 255, 256}[i%11]
		for _, b := range r.Perm(256)[:members] {
			set[b] = true
		}
		var in, out []byte
		for b := range 256 {
			if set[b] {
				in = append(in, byte(b))
			} else {
				out = append(out, byte(b))
			}
		}
		for _, l := range levels() {
			s := newByteSet(&set, l)
			size := i % 201
			checkSet(t, l, "Find", s.Find, out, in, size, r)
			for b := range 256 {
				if s.Has(byte(b)) != set[b] {
					t.Fatalf("%v: Has(%#x) = %v", l, b, !set[b])
				}
			}
		}
	}
}

// checkSet puts one of the wanted bytes at each position of a text of others, with random
// bytes after it.
func checkSet(t *testing.T, l level, name string, find func([]byte, int) int, others, wanted []byte, size int, r *rand.Rand) {
	t.Helper()
	if len(others) > 0 {
		if got := find(random(r, size, string(others)), 0); got != -1 {
			t.Fatalf("%v %s: found at %d, want none", l, name, got)
		}
	}
	if len(wanted) == 0 {
		return
	}
	for at := range size {
		b := random(r, size, string(wanted))
		if len(others) > 0 {
			copy(b, random(r, at, string(others)))
		}
		want := at
		if len(others) == 0 {
			want = 0
		}
		if got := find(b, 0); got != want {
			t.Fatalf("%v %s: %q: found at %d, want %d", l, name, b, got, want)
		}
		if got := find(b, at); got != at {
			t.Fatalf("%v %s: %q from %d: found at %d", l, name, b, at, got)
		}
	}
}

// TestByteSetEachByte checks that the look-up tables distinguish all 256 bytes.
func TestByteSetEachByte(t *testing.T) {
	for b := range 256 {
		var set [256]bool
		for _, d := range []int{0, 1, 16, 128} { // four members, so that no special case applies
			set[(b+d)%256] = true
		}
		for _, l := range levels() {
			s := newByteSet(&set, l)
			for c := range 256 {
				text := bytes.Repeat([]byte{byte(c)}, 80)
				want := -1
				if set[c] {
					want = 0
				}
				if got := setFind(l, &s.in, text); got != want {
					t.Fatalf("%v: set of %#x: byte %#x found at %d, want %d", l, b, c, got, want)
				}
			}
		}
	}
}
