package textedit

import "math"

// This file finds edit scripts between two sequences of lines. Lines are given as numbers;
// equal lines have equal numbers.

// lineChange replaces lines [a0, a1) of the old text by [b0, b1) of the new.
type lineChange struct{ a0, a1, b0, b1 int }

// myersBudget limits the steps of one comparison. 20 million take about a tenth of a second.
// If the budget is used up, the rest of the texts is shown as replaced.
const myersBudget = 20 << 20

// compareLines returns the changes in order, as long as possible and not touching. It uses
// Myers' algorithm in linear space: find the middle of a shortest path, then do the same on
// both sides. Lines that occur in only one text can't be matched, so they are set aside first.
// Without this, a change of every one of 8,192 lines would use up the budget.
func compareLines(a, b []int) []lineChange {
	inA, inB := present(a), present(b)
	fa, ia := shared(a, inB)
	fb, ib := shared(b, inA)
	m := &myers{a: fa, b: fb, budget: myersBudget}
	m.walk(0, len(fa), 0, len(fb))
	out := spread(m.out, ia, ib, len(a), len(b))
	slide(out, a, b)
	return joinTouching(out)
}

func present(ids []int) map[int]bool {
	m := make(map[int]bool, len(ids))
	for _, id := range ids {
		m[id] = true
	}
	return m
}

// shared returns the lines that also occur in the other text, and their indexes.
func shared(ids []int, other map[int]bool) (kept, at []int) {
	for i, id := range ids {
		if other[id] {
			kept, at = append(kept, id), append(at, i)
		}
	}
	return kept, at
}

// spread converts changes of the shared lines to changes of all lines.
func spread(changes []lineChange, ia, ib []int, na, nb int) []lineChange {
	var out []lineChange
	a, b := 0, 0 // lines handled so far
	x, y := 0, 0 // shared lines handled so far
	match := func(endX int) {
		for ; x < endX; x, y = x+1, y+1 {
			if ia[x] > a || ib[y] > b {
				out = append(out, lineChange{a, ia[x], b, ib[y]})
			}
			a, b = ia[x]+1, ib[y]+1
		}
	}
	for _, c := range changes {
		match(c.a0)
		x, y = c.a1, c.b1
	}
	match(len(ia))
	if a < na || b < nb {
		out = append(out, lineChange{a, na, b, nb})
	}
	return out
}

type myers struct {
	a, b   []int
	fwd    []int
	bwd    []int
	budget int
	out    []lineChange
}

func (m *myers) walk(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && m.a[a0] == m.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && m.a[a1-1] == m.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 || b0 == b1 {
		m.emit(a0, a1, b0, b1)
		return
	}
	x, y, ok := m.middle(a0, a1, b0, b1)
	if !ok {
		m.emit(a0, a1, b0, b1)
		return
	}
	m.walk(a0, x, b0, y)
	m.walk(x, a1, y, b1)
}

func (m *myers) emit(a0, a1, b0, b1 int) {
	if a0 == a1 && b0 == b1 {
		return
	}
	if n := len(m.out); n > 0 && m.out[n-1].a1 == a0 && m.out[n-1].b1 == b0 {
		m.out[n-1].a1, m.out[n-1].b1 = a1, b1
		return
	}
	m.out = append(m.out, lineChange{a0, a1, b0, b1})
}

// middle finds a point on a shortest path, strictly inside the box. It walks from both corners
// until the two fronts meet, and gives up when the budget is spent. Diagonal k = x-y is stored
// at index k+off.
func (m *myers) middle(a0, a1, b0, b1 int) (int, int, bool) {
	n, k := a1-a0, b1-b0
	off := n + k + 1
	if need := 2*off + 1; len(m.fwd) < need {
		m.fwd, m.bwd = make([]int, need), make([]int, need)
	}
	delta := n - k
	odd := delta&1 != 0
	m.fwd[off+1], m.bwd[off+1] = 0, 0 // the imaginary step before d = 0
	for d := 0; d <= (n+k+1)/2; d++ {
		if m.budget -= 2 * (d + 1); m.budget < 0 {
			return 0, 0, false
		}
		for i := -d; i <= d; i += 2 {
			x := m.forward(a0, b0, n, k, d, i, off)
			if j := delta - i; odd && j >= -(d-1) && j <= d-1 && x+m.bwd[off+j] >= n {
				return m.inside(a0, a1, b0, b1, a0+x, b0+x-i)
			}
		}
		for i := -d; i <= d; i += 2 {
			x := m.backward(a1, b1, n, k, d, i, off)
			if j := delta - i; !odd && j >= -d && j <= d && x+m.fwd[off+j] >= n {
				return m.inside(a0, a1, b0, b1, a1-x, b1-(x-i))
			}
		}
	}
	return 0, 0, false
}

// outside marks a diagonal that can't be reached within the box.
const outside = math.MinInt / 4

// furthest returns how far diagonal i is reached with d edits, before matching lines are
// followed, from how far its neighbours were reached with d-1 edits.
func furthest(v []int, n, k, d, i, off int) int {
	x := outside
	if i != d || d == 0 {
		x = v[off+i+1] // down
	}
	if i != -d {
		x = max(x, v[off+i-1]+1) // right
		if x > n && i != d {
			x = v[off+i+1]
		}
	}
	if x < 0 || x > n || x-i < 0 || x-i > k {
		return outside
	}
	return x
}

func (m *myers) forward(a0, b0, n, k, d, i, off int) int {
	x := furthest(m.fwd, n, k, d, i, off)
	if x >= 0 {
		for y := x - i; x < n && y < k && m.a[a0+x] == m.b[b0+y]; y++ {
			x++
		}
	}
	m.fwd[off+i] = x
	return x
}

func (m *myers) backward(a1, b1, n, k, d, i, off int) int {
	x := furthest(m.bwd, n, k, d, i, off)
	if x >= 0 {
		for y := x - i; x < n && y < k && m.a[a1-1-x] == m.b[b1-1-y]; y++ {
			x++
		}
	}
	m.bwd[off+i] = x
	return x
}

// inside accepts a meeting point only if both parts are smaller than the box. Otherwise the
// recursion might not end.
func (m *myers) inside(a0, a1, b0, b1, x, y int) (int, int, bool) {
	if x < a0 || x > a1 || y < b0 || y > b1 || x == a0 && y == b0 || x == a1 && y == b1 {
		return 0, 0, false
	}
	return x, y, true
}

func joinTouching(in []lineChange) []lineChange {
	var out []lineChange
	for _, c := range in {
		if n := len(out); n > 0 && out[n-1].a1 == c.a0 && out[n-1].b1 == c.b0 {
			out[n-1].a1, out[n-1].b1 = c.a1, c.b1
			continue
		}
		out = append(out, c)
	}
	return out
}

// slide moves an insertion or deletion that fits in several places as far down as possible, as
// git does. So an added block begins with its own first line rather than with the end of the
// previous block.
func slide(changes []lineChange, a, b []int) {
	for i := len(changes) - 1; i >= 0; i-- {
		c := &changes[i]
		limA, limB := len(a), len(b)
		if i+1 < len(changes) {
			limA, limB = changes[i+1].a0, changes[i+1].b0
		}
		for c.a0 == c.a1 && c.b1 < limB && c.a1 < limA && b[c.b0] == b[c.b1] {
			c.a0, c.a1, c.b0, c.b1 = c.a0+1, c.a1+1, c.b0+1, c.b1+1
		}
		for c.b0 == c.b1 && c.a1 < limA && c.b1 < limB && a[c.a0] == a[c.a1] {
			c.a0, c.a1, c.b0, c.b1 = c.a0+1, c.a1+1, c.b0+1, c.b1+1
		}
	}
}
