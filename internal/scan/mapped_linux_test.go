package scan

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"quarry/match"
)

// mapped is a View of a file that always reports possible changes.
type mapped struct {
	*os.File
	data []byte
}

func (m *mapped) Bytes() []byte     { return m.data }
func (m *mapped) Steady() bool      { return false }
func (m *mapped) Drop(from, to int) {}

// A file that is truncated while it is mapped is searched to its end.
func TestViewOfTruncatedFile(t *testing.T) {
	const size = 3 << 20
	text := strings.Repeat("foo\n---\n", size/8)
	for _, left := range []int{0, 100 << 10, 300 << 10, 2 << 20, size - 4} {
		name := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := syscall.Mmap(int(f.Fd()), 0, len(text), syscall.PROT_READ, syscall.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, int64(left)); err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{"foo", "(?i)FOO", `f\w+`, "zzz|foo"} {
			p := match.MustCompile(pattern, match.Options{})
			for _, detail := range []Detail{Count, Lines} {
				req := Request{Detail: detail, Emit: func(*Result) error { return nil }}
				// The start was read before the file was truncated.
				got, err := together(scanners(p, 2), strings.NewReader(text[:max(left, blockSize)]), int64(len(text)), &mapped{f, data}, &req)
				want := max(left, blockSize) / 8
				if err != nil || got.Matched < want-1 || got.Matched > want+1 {
					t.Errorf("%q, %d bytes left: %d lines, %v; want %d", pattern, left, got.Matched, err, want)
				}
			}
		}
		syscall.Munmap(data)
		f.Close()
	}
}
