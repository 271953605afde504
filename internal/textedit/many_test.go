package textedit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/textfile"
)

// Hunks that match in many places are located once each, not again for every earlier hunk,
// which took minutes for 100 of them.
func TestManyAmbiguousHunks(t *testing.T) {
	d := doc(t, strings.Repeat("a\n", 20_000))
	var edits []change.Edit
	for i := range 200 {
		edits = append(edits, change.Edit{Verb: change.ApplyHunk, First: 3*i + 1, Hunk: " a\n-a\n+b\n"})
	}
	p := &planner{doc: textfile.InMemory(d)}
	looked := 0
	p.doc.StopWith(func() error { looked++; return nil })
	for i, e := range edits {
		p.edit, p.later = i, edits[i+1:]
		var several *change.AmbiguousError
		if _, err := p.plan(e); !errors.As(err, &several) {
			t.Fatalf("hunk %d: %v", i, err)
		}
	}
	if len(p.alone) != len(edits)-1 {
		t.Errorf("%d later hunks were looked for, want each once", len(p.alone))
	}
	if most := 40_000; looked > most {
		t.Errorf("asked %d times whether to stop, so the text was looked through too often; want at most %d", looked, most)
	}
}

// Only the first missing texts are explained.
func TestFewExplanations(t *testing.T) {
	var edits []change.Edit
	for i := range 100 {
		edits = append(edits, change.Edit{Old: fmt.Sprintf("some lune %d", i), New: "x", Occurrence: change.First})
	}
	_, err := Apply(doc(t, "some line 7\nand more\n"), edits...)
	explained := 0
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		var missing *change.NotFoundError
		if errors.As(e, &missing) && missing.Near != nil {
			explained++
		}
	}
	if explained != maxNears {
		t.Errorf("%d explained, want %d", explained, maxNears)
	}
}

// A list of edits that would take too long is refused. Work on a text stops when its context ends.
func TestTooManyEdits(t *testing.T) {
	d := doc(t, strings.Repeat("some text\n", 100_000))
	edits := make([]change.Edit, 40_000)
	for i := range edits {
		edits[i] = change.Edit{Old: "none", New: "x"}
	}
	if _, err := Apply(d, edits...); fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("%v", err)
	}
	text := textfile.InMemory(d)
	text.StopWith(func() error { return context.Canceled })
	if _, err := ApplyTo("", text, DefaultMaxSize, nil, edits[:30_000]...); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
