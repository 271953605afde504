package index

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/rootfs"
	"quarry/match"
)

// inMemory is a mapping of bytes that are not in a file.
type inMemory struct {
	*bytes.Reader
	data []byte
}

func (m inMemory) Bytes() []byte { return m.data }
func (inMemory) Touched() bool   { return false }
func (inMemory) Forget()         {}
func (inMemory) Close() error    { return nil }

// FuzzSegment treats bytes as a segment, also with corrected checksums, and runs every kind of
// query on it: each must soon return an answer or an error. TestDamage opens damaged files.
func FuzzSegment(f *testing.F) {
	dir, stateDir := f.TempDir(), memoryDir(f)
	for i := range 6 { // a small segment: mutations of a large one hit little that matters
		text := fmt.Sprintf("alpha needle %d\nmutex_lock(%d)\n", i, i*i)
		if i == 3 {
			text = strings.Repeat("row of a large file\n", 200) + text
		}
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint("d", i%3)), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("d%d/f%d", i%3, i)), []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	root, err := rootfs.Open(dir, &rootfs.Options{AllowAny: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { root.Close() })
	state, err := rootfs.Open(stateDir, &rootfs.Options{AllowAny: true, Trusted: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { state.Close() })
	ix, err := Open(root, state, nil)
	if err != nil {
		f.Fatal(err)
	}
	if snap, err := ix.Fresh(context.Background()); err != nil {
		f.Fatal(err)
	} else {
		snap.Close()
	}
	if err := ix.Flush(context.Background()); err != nil {
		f.Fatal(err)
	}
	ix.Close()
	entries, err := os.ReadDir(stateDir)
	if err != nil {
		f.Fatal(err)
	}
	seeds := 0
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), segmentPrefix) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(stateDir, e.Name()))
		if err != nil {
			f.Fatal(err)
		}
		for _, forged := range []bool{false, true} {
			f.Add(forged, data)
			f.Add(forged, data[:len(data)/2])
		}
		seeds++
	}
	if seeds == 0 {
		f.Fatal("no segment was written")
	}
	need := match.MustCompile("needle|mutex_lock", match.Options{}).Need()
	f.Fuzz(func(t *testing.T, forged bool, data []byte) {
		if forged {
			if len(data) < footerSize {
				return
			}
			forge(data)
		}
		seg, err := newSegment(inMemory{bytes.NewReader(data), data}, "fuzzed", nil, false)
		if err != nil {
			return
		}
		h := newHeld(seg, nil)
		s := &Snapshot{snapshot: &snapshot{ix: &Index{log: slog.New(slog.DiscardHandler)}, views: []*view{{seg: seg, held: h, mask: h.mask}}}}
		s.refs.Store(1)
		for _, byLine := range []bool{false, true} {
			if c, err := s.Candidates(Ask{Need: need, ByLine: byLine}); err == nil {
				c.Each(func(*Doc) bool { return true })
				c.Files(func(*Doc, bool) bool { return true })
			}
		}
		s.Lookup("d1/f1")
		s.Close()
	})
}
