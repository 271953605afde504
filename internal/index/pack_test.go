package index

import (
	"bytes"
	"fmt"
	"math/rand/v2"
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
		if got := unpack(nil, out); !bytes.Equal(got, text) {
			t.Fatalf("%q is unpacked as %q", text, got)
		}
		plain, packed = plain+len(text), packed+len(out)
	}
	if packed > plain/2 {
		t.Errorf("%d bytes are packed in %d", plain, packed)
	}
}

// Whatever bytes are unpacked, it ends with a text or a panic that guard knows.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{3, 'a', 'b', 'c', 2, 3, 0})
	f.Add([]byte{0})
	f.Add([]byte{1, 'a', 0xFF, 0xFF, 0xFF, 0x0F, 1, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64 { // each copy may be long
			return
		}
		var p packer
		guard(func() error {
			text := unpack(nil, data)
			if got := unpack(nil, p.pack(nil, text)); !bytes.Equal(got, text) {
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
