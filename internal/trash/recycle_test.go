package trash

import (
	"encoding/binary"
	"testing"
	"time"
	"unicode/utf16"
)

// explorers builds a record as Explorer writes it. It follows the description of the
// format and does not use our code.
func explorers(version uint64, size int64, at time.Time, path string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, version)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	since1601 := at.Sub(time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)) + 0
	b = binary.LittleEndian.AppendUint64(b, uint64(since1601/100)+11644473600*10_000_000)
	text := utf16.Encode([]rune(path + "\x00"))
	if version == 2 {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	}
	for _, u := range text {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	if version == 1 {
		b = append(b, make([]byte, 24+520-len(b))...)
	}
	return b
}

func TestRecycledRecords(t *testing.T) {
	at := time.Date(2026, 11, 16, 3, 4, 5, 0, time.UTC)
	const path = `C:\Users\me\Notes\Ünïcödé ☃ 𝄞.md`
	r := record{path: "C:/Users/me/Notes/Ünïcödé ☃ 𝄞.md", deleted: at, size: 12345}
	if got, want := string(r.encodeRecycled()), string(explorers(2, 12345, at, path)); got != want {
		t.Errorf("encoded\n% x, want\n% x", got, want)
	}
	for version := uint64(1); version <= 2; version++ {
		got, err := parseRecycled(explorers(version, 12345, at, path))
		if err != nil || got.path != r.path || got.size != r.size || !got.deleted.Equal(at.Truncate(100)) {
			t.Errorf("version %d: %+v, %v", version, got, err)
		}
	}
	for _, bad := range [][]byte{nil, make([]byte, 24), explorers(3, 1, at, path), explorers(2, 1, at, path)[:40], explorers(2, 1, at, ""), explorers(2, 1, at, `..\x`), explorers(2, 1, at, `C:\`)} {
		if got, err := parseRecycled(bad); err == nil {
			t.Errorf("% x is read as %+v", bad, got)
		}
	}
}

func FuzzRecycledRecords(f *testing.F) {
	f.Add(explorers(2, 1, time.Now(), `C:\x\y`))
	f.Add(explorers(1, 1, time.Now(), `D:\x`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseRecycled(b)
		if err != nil {
			return
		}
		if again, err := parseRecycled(r.encodeRecycled()); err != nil || again.path != r.path {
			t.Errorf("%+v became %+v, %v", r, again, err)
		}
	})
}
