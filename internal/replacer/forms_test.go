package replacer

import (
	"fmt"
	"testing"
)

// The samples of a replacement are the most frequent form and the rarest ones, each with its
// first match.
func TestForms(t *testing.T) {
	var f forms
	for i := range 100 {
		f.add(fmt.Sprintf(`Wrap(err%d, "text \"%d")`, i, i), "new")
	}
	for _, odd := range []string{`Wrap(w.Close(), "Close")`, `Wrap(err, text)`, `Wrap( err,  text )`, "Wrap(e.Err, `a`)", `Wrap("open`} {
		f.add(odd, "odd")
	}
	f.add(`Wrap(x, y)`, "odd")
	if got := len(f.samples()); got != 6 {
		t.Errorf("%d of 6 forms are shown", got)
	}
	f.add(`Wrap[x]`, "odd")
	got := fmt.Sprint(f.samples(), len(f.order))
	want := fmt.Sprint([]Sample{{`Wrap(err0, "text \"0")`, "new", 100}, {"Wrap(e.Err, `a`)", "odd", 1}, {`Wrap("open`, "odd", 1}, {`Wrap[x]`, "odd", 1}}, 7)
	if got != want {
		t.Errorf("samples are\n%s\nwant\n%s", got, want)
	}
	for i := range 2 * maxForms {
		f.add(fmt.Sprintf("%0*d%s", i%7, 0, string(make([]byte, i))), "")
	}
	if len(f.order) != maxForms || len(f.samples()) != someForms {
		t.Errorf("%d forms are kept, %d shown", len(f.order), len(f.samples()))
	}
}
