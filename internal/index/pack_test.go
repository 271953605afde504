package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"Browser compatibility", "See also", "a", "\x00", "guide", strings.Repeat("x", 300)}
	var p packer
	plain, packed := 0, 0
	for range 500 {
		var text []byte
		for range r.IntN(80) {
			text = append(text, words[r.IntN(len(words))]...)
			if r.IntN(3) == 0 {
				text = append(text, byte(r.IntN(256)))
			}
		}
		out := p.pack(nil, text)
		if got := unpack(nil, out, len(text)); !bytes.Equal(got, text) {
			t.Fatalf("%q is unpacked as %q", text, got)
		}
		plain, packed = plain+len(text), packed+len(out)
	}
	if packed > plain/2 {
		t.Errorf("%d bytes are packed in %d", plain, packed)
	}
}

// Unpacking arbitrary bytes results in a text, or in a panic that guard converts.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{3, 'a', 'b', 'c', 2, 3, 0})
	f.Add([]byte{0})
	f.Add([]byte{1, 'a', 0xFF, 0xFF, 0xFF, 0x0F, 1, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var p packer
		guard(func() error {
			text := unpack(nil, data, 1<<20)
			if got := unpack(nil, p.pack(nil, text), len(text)); !bytes.Equal(got, text) {
				t.Errorf("%q is unpacked as %q", text, got)
			}
			return nil
		})
	})
}

// Documents have the values they were given, all or those that are wanted.
func TestColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var docs []Values
	for i := range 1000 {
		var f Fields
		if i/fieldGroup != 3 && r.IntN(3) > 0 { // one group is empty
			for n := range r.IntN(6) {
				f.Add(bytes.Repeat([]byte(fmt.Sprint("value ", n, " of ", r.IntN(9))), r.IntN(4)))
			}
		}
		docs = append(docs, Values(f.Values()))
	}
	var file bytes.Buffer
	w, err := newSegmentWriter(&file, nil)
	if err != nil {
		t.Fatal(err)
	}
	from := file.Len()
	for _, v := range docs {
		if err := w.values(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.endGroup(); err != nil {
		t.Fatal(err)
	}
	table := &fieldTable{docs: len(docs), heads: w.fields.heads, file: append(file.Bytes()[from:], make([]byte, postingsPad)...)}
	w.sums.add(make([]byte, postingsPad))
	table.sums = w.sums.finish()
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
	some := 0
	for _, want := range []uint64{AllValues, 1 << 2, 1<<0 | 1<<4} {
		cur := fieldCursor{t: table, want: want}
		for id := range docs {
			if r.IntN(4) == 0 {
				continue
			}
			got, all := cur.values(id), docs[id]
			if (len(got) > 0) != (len(all) > 0) || want == AllValues && !bytes.Equal(got, all) {
				t.Fatalf("document %d has %q, want %q", id, got, all)
			}
			for n := 0; len(all) > 0; n++ {
				if value, had := all.Next(), got.Next(); want>>n&1 != 0 && !bytes.Equal(value, had) {
					t.Fatalf("value %d of document %d is %q, want %q", n, id, had, value)
				}
				some++
			}
		}
	}
	if some < 1000 {
		t.Errorf("only %d values were compared", some)
	}
}

// A group of fields with correct sums and wrong numbers is refused, at no more cost than the largest real
// group.
func TestForgedColumns(t *testing.T) {
	group := func(columns ...[]byte) []byte {
		g := binary.LittleEndian.AppendUint64(nil, 1)
		g = binary.AppendUvarint(g, uint64(len(columns)))
		for _, c := range columns {
			g = binary.AppendUvarint(g, uint64(len(c)))
		}
		return append(g, bytes.Join(columns, nil)...)
	}
	repeated := func(copies, length int) []byte {
		c := []byte{1, 'a'}
		for range copies {
			c = binary.AppendUvarint(c, uint64(length-minCopy))
			c = append(c, 1, 0) // one back; no literals
		}
		return c
	}
	many := make([][]byte, 40)
	for i := range many {
		many[i] = repeated(12, maxCopy)
	}
	numbered := func(columns uint64, rest int) []byte {
		return append(binary.AppendUvarint(binary.LittleEndian.AppendUint64(nil, 1), columns), make([]byte, rest)...)
	}
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"300 copies of 1 MB", group(repeated(300, maxCopy))},
		{"40 columns of 12 MB", group(many...)},
		{"a copy longer than any", group([]byte{1, 'a', 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 1, 0})},
		{"a copy from before the text", group([]byte{1, 'a', 0, 2, 0})},
		{"more literals than bytes", group([]byte{100, 'a'})},
		{"a value longer than its column", group([]byte{2, 0xFF, 0x7F})},
		{"3,000,000 columns", numbered(3_000_000, 6_000_000)},
		{"2^60 columns", numbered(1<<60, 100)},
		{"a column longer than the group", append(numbered(1, 0), 0x7F, 0)},
		{"half a head", []byte{1, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sums blockSums
			file := append(c.data, make([]byte, postingsPad)...)
			sums.add(file)
			table := &fieldTable{docs: 1, heads: make([]byte, 8), file: file, sums: sums.finish()}
			if err := table.check(); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := guard(func() error {
				cur := fieldCursor{t: table, want: AllValues}
				cur.values(0)
				return nil
			})
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("it is read: %v", err)
			}
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 128 { // while the 16 MB of a group grow
				t.Errorf("%d MB were allocated", mb)
			}
		})
	}
}
