package textedit

// Stretch is a run of N lines common to two texts. It begins at line A of the first text and
// line B of the second, counted from 0.
type Stretch struct{ A, B, N int }

// CommonLines returns the lines that a diff of a and b shows as unchanged, in order and in
// runs as long as possible. Lines are given as numbers; equal lines have equal numbers.
func CommonLines(a, b []int) []Stretch {
	var out []Stretch
	x, y := 0, 0
	for _, c := range append(compareLines(a, b), lineChange{len(a), len(a), len(b), len(b)}) {
		if c.a0 > x {
			out = append(out, Stretch{x, y, c.a0 - x})
		}
		x, y = c.a1, c.b1
	}
	return out
}
