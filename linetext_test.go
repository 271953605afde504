package quarry_test

import (
	"testing"

	"quarry"
	"quarry/search"
)

func TestDecoded(t *testing.T) {
	l := quarry.Decoded(search.Line{Text: []byte("caf\xe9 x\x80"), Spans: []search.Span{{Start: 5, End: 7}}})
	if string(l.Text) != "café x€" || l.Spans[0] != (search.Span{Start: 6, End: 10}) {
		t.Errorf("%q %v", l.Text, l.Spans)
	}
	same := search.Line{Text: []byte("käse")}
	if got := quarry.Decoded(same); string(got.Text) != "käse" {
		t.Errorf("%q", got.Text)
	}
}
