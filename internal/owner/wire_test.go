package owner

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/search"
)

// wireSample returns a file with every field set, so that a field missing from the format
// is noticed.
func wireSample(t testing.TB) search.FileMatch {
	line := search.Line{
		Number: 3, Offset: 1 << 40, Text: []byte("héllo\xff"), Ending: "\r\n", Hit: true,
		Spans: []search.Span{{Start: 1, End: 2}, {Start: 3, End: 3}}, Whole: []search.Span{{Start: 0, End: 9}}, Holes: [][]search.Hole{{{Name: "A", Span: search.Span{Start: 1, End: 2}}}}, Doubts: []string{"x"}, CutBefore: 4, CutAfter: 5, Block: 6,
	}
	f := search.FileMatch{
		Path: "a\nb/\xff", Lines: []search.Line{line, {Number: 4, Text: []byte{}}}, Matched: 1, Matches: 2, Bytes: 3, NUL: 4, AtNUL: true,
		Score: 1.5, ModTime: time.Unix(0, 1234567890123456789), More: true, Version: "v",
	}
	for _, v := range []reflect.Value{reflect.ValueOf(f), reflect.ValueOf(line)} {
		for i := range v.NumField() {
			// Symbol is set by the client, not sent by the owner.
			if v.Field(i).IsZero() && v.Type().Field(i).Name != "Symbol" {
				t.Fatalf("the sample leaves %s.%s empty", v.Type(), v.Type().Field(i).Name)
			}
		}
	}
	return f
}

func TestWire(t *testing.T) {
	f := wireSample(t)
	b := appendFile(nil, &f)
	got, err := decodeFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, got); diff != "" {
		t.Error(diff)
	}
	for cut := range len(b) {
		if _, err := decodeFile(b[:cut]); err == nil {
			t.Errorf("a message cut after %d bytes is accepted", cut)
		}
	}
}

// FuzzWire decodes arbitrary bytes as the file of an answer. Encoding and decoding an accepted file again must
// not change it.
func FuzzWire(f *testing.F) {
	f.Add(appendFile(nil, &search.FileMatch{Path: "x", Lines: []search.Line{{Text: []byte("y")}}}))
	full := wireSample(f)
	f.Add(appendFile(nil, &full))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := decodeFile(b)
		if err != nil {
			return
		}
		again, err := decodeFile(appendFile(nil, &file))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(file, again) && file.Score == file.Score { // NaN is not equal to itself
			t.Error(cmp.Diff(file, again))
		}
	})
}
