package changer_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/sys/unix"

	"quarry"
	"quarry/change"
	regime "quarry/internal/stress"
)

// encodings encode text without using the code under test.
var encodings = map[string]func(string) []byte{
	"utf-8":     func(s string) []byte { return []byte(s) },
	"utf-8-bom": func(s string) []byte { return append([]byte("\xef\xbb\xbf"), s...) },
	"utf-16le":  func(s string) []byte { return wide(s, binary.LittleEndian) },
	"utf-16be":  func(s string) []byte { return wide(s, binary.BigEndian) },
	"windows-1252": func(s string) []byte {
		out := []byte{0xe9, ' '} // never valid UTF-8
		for _, r := range s {
			out = append(out, byte(r))
		}
		return out
	},
}

func wide(s string, order binary.AppendByteOrder) []byte {
	b := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

// noise returns text with mixed or missing line endings, long lines and, if nul is set,
// late NULs.
func noise(rng *rand.Rand, latin, nul bool) string {
	var b strings.Builder
	for range rng.IntN(20) {
		switch rng.IntN(10) {
		case 0:
			b.WriteString("\r\n")
		case 1, 2:
			b.WriteString("\n")
		case 3:
			b.WriteString("lone \r return")
		case 4:
			b.WriteString(strings.Repeat("long ", rng.IntN(400)))
		case 5:
			b.WriteString("naïve é ÿ")
		case 6:
			if !latin {
				b.WriteString("日本 🙂 ﬀ \u2028")
			}
		default:
			fmt.Fprintf(&b, "word %d\t ", rng.IntN(1000))
		}
	}
	if nul {
		b.WriteString(strings.Repeat("x", 70_000) + "\x00late")
	}
	return b.String()
}

// An edit changes only the bytes it names, in any file. Mode and extended attributes
// remain, and undo restores every byte.
func TestByteIntegrity(t *testing.T) {
	dir := regime.FastDir(t)
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: regime.FastDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	names := []string{"utf-8", "utf-8-bom", "utf-16le", "utf-16be", "windows-1252"}
	for seed := range regime.Start(t, "bytes outside an edit", 500, 10_000).Cases() {
		rng, i := regime.Rand(seed), int(seed)
		enc := names[rng.IntN(len(names))]
		latin := enc == "windows-1252"
		front := noise(rng, latin, false)
		back := noise(rng, latin, enc == "utf-8" && rng.IntN(20) == 0)
		old, new := "@@old "+fmt.Sprint(i)+"@@", []string{"", "ünew", "a longer text than before"}[rng.IntN(3)]
		raw, want := encodings[enc](front+old+back), encodings[enc](front+new+back)

		path := filepath.Join(dir, "f")
		mode := []fs.FileMode{0o600, 0o644, 0o755, 0o640}[rng.IntN(4)]
		if err := os.WriteFile(path, raw, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		attr := unix.Setxattr(path, "user.quarry", []byte("kept"), 0) == nil
		c, err := ws.Edit(ctx, "f", []change.Edit{change.Edit{Old: old, New: new, Occurrence: change.First}}, nil)
		if err != nil {
			t.Fatalf("file %d in %s: %v", i, enc, err)
		}
		checkFile(t, i, path, want, mode, attr)
		if _, err := ws.Undo(ctx, c.ID, nil); err != nil {
			t.Fatal(err)
		}
		checkFile(t, i, path, raw, mode, attr)
		if t.Failed() {
			return
		}
		os.Remove(path)
	}
}

func checkFile(t *testing.T, i int, path string, want []byte, mode fs.FileMode, attr bool) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("file %d: %.200q, want %.200q", i, got, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != mode {
		t.Errorf("file %d: mode %v, want %v (%v)", i, info.Mode(), mode, err)
	}
	if attr {
		buf := make([]byte, 16)
		if n, err := unix.Getxattr(path, "user.quarry", buf); err != nil || string(buf[:n]) != "kept" {
			t.Errorf("file %d: attribute %q, %v", i, buf[:max(n, 0)], err)
		}
	}
}
