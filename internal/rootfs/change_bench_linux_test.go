package rootfs

import (
	"bytes"
	"os"
	"testing"
)

// BenchmarkEditLarge changes one byte of a 100 MB file, compared with reading and writing the file, without and
// with a sync.
func BenchmarkEditLarge(b *testing.B) {
	dir := workspace(b)
	f := dir + "/f"
	must(b, os.WriteFile(f, bytes.Repeat([]byte("0123456789abcdef"), 100<<20/16), 0o644))
	r := openRoot(b, dir, nil)
	b.Run("rootfs", func(b *testing.B) {
		b.SetBytes(100 << 20)
		b.ReportAllocs()
		n := byte(0)
		for b.Loop() {
			n++
			_, err := r.Splice(Path{"f"}, []Edit{{Off: 50 << 20, Len: 1, Data: []byte{n}}}, Version{}, nil)
			must(b, err)
		}
	})
	plain := func(b *testing.B, sync bool) {
		b.SetBytes(100 << 20)
		for b.Loop() {
			data, err := os.ReadFile(f)
			must(b, err)
			data[50<<20]++
			out, err := os.Create(f + ".new")
			must(b, err)
			_, err = out.Write(data)
			must(b, err)
			if sync {
				must(b, out.Sync())
			}
			must(b, out.Close())
			must(b, os.Rename(f+".new", f))
		}
	}
	b.Run("plain", func(b *testing.B) { plain(b, false) })
	b.Run("plain-synced", func(b *testing.B) { plain(b, true) })
}

// BenchmarkEditSmall makes durable edits of a small file.
func BenchmarkEditSmall(b *testing.B) {
	dir := workspace(b, "f")
	r := openRoot(b, dir, nil)
	for b.Loop() {
		_, err := r.Splice(Path{"f"}, []Edit{{Off: 0, Data: []byte("x")}}, Version{}, nil)
		must(b, err)
	}
}
