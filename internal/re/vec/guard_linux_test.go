package vec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"syscall"
	"testing"

	"quarry/internal/stress"
)

// guarded returns one page of memory between two inaccessible ones.
func guarded(t *testing.T) []byte {
	t.Helper()
	page := syscall.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip("mmap:", err)
	}
	t.Cleanup(func() { syscall.Munmap(mem) })
	for _, guard := range [][]byte{mem[:page], mem[2*page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Skip("mprotect:", err)
		}
	}
	return mem[page : 2*page : 2*page]
}

// TestNoReadOutside runs every kernel on texts of all lengths up to 300 that end right before,
// or begin right after, an inaccessible page.
func TestNoReadOutside(t *testing.T) {
	stress.SkipTiny(t)
	page := guarded(t)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for size := range 301 {
		for _, hay := range [][]byte{page[len(page)-size:], page[:size:size]} {
			for _, l := range levels() {
				copy(hay, bytes.Repeat([]byte{'.'}, size))
				touchAll(t, l, hay)
			}
		}
	}
}

// touchAll runs the kernels on hay in three cases: nothing to find, candidates that fail
// everywhere, and the needle at the very end.
func touchAll(t *testing.T, l level, hay []byte) {
	t.Helper()
	defer func() {
		if err := recover(); err != nil {
			t.Fatalf("%v: %d bytes: %v", l, len(hay), err)
		}
	}()
	want := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Fatalf("%v: %s in %d bytes: %d, want %d", l, what, len(hay), got, want)
		}
	}
	var members [256]bool
	for _, c := range "aeiouXYZ" {
		members[c] = true
	}
	few := [256]bool{'q': true, 'Q': true}
	for _, set := range []*ByteSet{newByteSet(&members, l), newByteSet(&few, l)} {
		want("byte set", set.Find(hay, 0), -1)
	}
	want("last byte", lastIndexByte(l, hay, '\n'), -1)
	want("non-ASCII", indexNonASCII(l, hay), -1)
	for _, needle := range guardNeedles {
		n := len(needle)
		at := -1
		if n <= len(hay) {
			at = len(hay) - n
		}
		one, fold := newFinder([]byte(needle), l), newFoldFinder([]byte(needle), l)
		many := newMulti([][]byte{[]byte(needle), []byte("0123"), []byte("Zq")}, true, l)
		want(needle, one.Find(hay, 0), -1)
		want(needle, fold.Find(hay, 0), -1)
		many.Find(hay, 0)
		if at < 0 {
			continue
		}
		copy(hay[at:], needle)
		want(needle, one.Find(hay, 0), at)
		want(needle, fold.Find(hay, 0), at)
		pos, _ := many.Find(hay, 0)
		want("a set with "+needle, pos, at)
		copy(hay[at:], bytes.Repeat([]byte{'.'}, n))
	}
}

var guardNeedles = []string{"ab", "abc", "abcd", "needle", "a needle", "needle of 17 byte", "a needle of more than thirty bytes"}

// TestNoReadOutsideDense fills the page with near matches of the needle.
func TestNoReadOutsideDense(t *testing.T) {
	page := guarded(t)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(11, 12))
	for size := 0; size < 300; size += 3 {
		hay := page[len(page)-size:]
		copy(hay, random(r, size, "abAB"))
		checkAll(t, hay, random(r, 1+size%20, "ab"))
		var lits [][]byte
		for i := range 1 + size%80 {
			lits = append(lits, fmt.Appendf(nil, "%s%d", random(r, 1+i%5, "ab"), i%2))
		}
		lits = append(lits, []byte("abab"), []byte("ba"))
		checkMulti(t, hay, lits, size%2 == 0)
	}
}
