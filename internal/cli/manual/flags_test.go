package manual

import "testing"

// Paragraphs are wrapped to the width; lists keep their lines.
func TestReflow(t *testing.T) {
	const paragraphs = "One two\nthree.\n\n  a  list\n  of  two\n"
	if got, want := reflow(paragraphs, 120), "One two three.\n\n  a  list\n  of  two\n"; got != want {
		t.Errorf("reflow gives %q, want %q", got, want)
	}
}
