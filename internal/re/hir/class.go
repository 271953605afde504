package hir

import (
	"slices"
	"unicode/utf8"

	"quarry/internal/re/ucd"
)

// Surrogates are code points but not scalar values: they occur in no UTF-8 text.
const (
	surrogateLo = 0xD800
	surrogateHi = 0xDFFF
)

// NewClass returns the class of the scalar values in ranges, which may overlap and be in any
// order. Reversed ranges are empty; surrogates and values outside Unicode are dropped.
// NewClass doesn't keep ranges.
func NewClass(ranges ...Range) *Class { return canonical(false, slices.Clone(ranges)) }

// NewByteClass is NewClass for a class of single bytes, 0 to 255.
func NewByteClass(ranges ...Range) *Class { return canonical(true, slices.Clone(ranges)) }

// ScalarClass returns the class of a set from Unicode's tables.
func ScalarClass(set []ucd.Range) *Class {
	ranges := make([]Range, len(set))
	for i, r := range set {
		ranges[i] = Range(r)
	}
	return canonical(false, ranges)
}

// AnyScalar returns the class of all scalar values.
func AnyScalar() *Class { return NewClass(Range{0, utf8.MaxRune}) }

// AnyByte returns the class of all bytes.
func AnyByte() *Class { return NewByteClass(Range{0, 0xFF}) }

// canonical returns the class of ranges, which it may modify, in canonical form.
func canonical(bytes bool, ranges []Range) *Class {
	limit := rune(utf8.MaxRune)
	if bytes {
		limit = 0xFF
	}
	kept := ranges[:0]
	var split []Range // halves of ranges that span the surrogates
	for _, r := range ranges {
		r.Lo, r.Hi = max(r.Lo, 0), min(r.Hi, limit)
		if !bytes && r.Lo <= surrogateHi && r.Hi >= surrogateLo {
			if r.Hi > surrogateHi {
				split = append(split, Range{surrogateHi + 1, r.Hi})
			}
			r.Hi = surrogateLo - 1
		}
		if r.Lo <= r.Hi {
			kept = append(kept, r)
		}
	}
	return &Class{Bytes: bytes, Ranges: merge(append(kept, split...))}
}

// merge sorts ranges in place and joins those that overlap or touch.
func merge(ranges []Range) []Range {
	byLo := func(a, b Range) int { return int(a.Lo) - int(b.Lo) }
	if !slices.IsSortedFunc(ranges, byLo) {
		slices.SortFunc(ranges, byLo)
	}
	out := ranges[:0]
	for _, r := range ranges {
		out = join(out, r)
	}
	return out
}

// join appends r, or extends the last range to r if they overlap or touch.
func join(out []Range, r Range) []Range {
	if n := len(out); n > 0 && r.Lo <= out[n-1].Hi+1 {
		out[n-1].Hi = max(out[n-1].Hi, r.Hi)
		return out
	}
	return append(out, r)
}

// IsEmpty reports whether no value is in the class.
func (c *Class) IsEmpty() bool { return len(c.Ranges) == 0 }

// IsASCII reports whether the class has no value over 0x7F. Such a class means the same
// whether its values are scalar values or bytes.
func (c *Class) IsASCII() bool {
	return len(c.Ranges) == 0 || c.Ranges[len(c.Ranges)-1].Hi < utf8.RuneSelf
}

// Contains reports whether r is in the class.
func (c *Class) Contains(r rune) bool {
	_, ok := slices.BinarySearchFunc(c.Ranges, r, func(s Range, r rune) int {
		switch {
		case s.Hi < r:
			return -1
		case s.Lo > r:
			return 1
		}
		return 0
	})
	return ok
}

// Len returns the number of values in the class.
func (c *Class) Len() int {
	n := 0
	for _, r := range c.Ranges {
		n += int(r.Hi-r.Lo) + 1
	}
	return n
}

// Equal reports whether both classes have the same kind and values.
func (c *Class) Equal(o *Class) bool {
	return c.Bytes == o.Bytes && slices.Equal(c.Ranges, o.Ranges)
}

// The set operations take two classes of the same kind. A class of bytes and a class of scalar
// values mix only if both are ASCII; the result has the receiver's kind.

// Union returns the values in c or in o.
func (c *Class) Union(o *Class) *Class {
	a, b := c.Ranges, o.Ranges
	out := make([]Range, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		if len(a) == 0 || len(b) > 0 && b[0].Lo < a[0].Lo {
			a, b = b, a
		}
		out, a = join(out, a[0]), a[1:]
	}
	return &Class{Bytes: c.Bytes, Ranges: out}
}

// Intersect returns the values in both c and o.
func (c *Class) Intersect(o *Class) *Class {
	var out []Range
	for i, j := 0, 0; i < len(c.Ranges) && j < len(o.Ranges); {
		a, b := c.Ranges[i], o.Ranges[j]
		if lo, hi := max(a.Lo, b.Lo), min(a.Hi, b.Hi); lo <= hi {
			out = append(out, Range{lo, hi})
		}
		if a.Hi < b.Hi {
			i++
		} else {
			j++
		}
	}
	return &Class{Bytes: c.Bytes, Ranges: out}
}

// Negate returns the scalar values or, for a class of bytes, the bytes that are not in c.
func (c *Class) Negate() *Class {
	limit := rune(utf8.MaxRune)
	if c.Bytes {
		limit = 0xFF
	}
	out := make([]Range, 0, len(c.Ranges)+2)
	next := rune(0)
	for _, r := range c.Ranges {
		if r.Lo > next {
			out = append(out, Range{next, r.Lo - 1})
		}
		next = r.Hi + 1
	}
	if next <= limit {
		out = append(out, Range{next, limit})
	}
	return canonical(c.Bytes, out)
}

// Difference returns the values in c but not in o.
func (c *Class) Difference(o *Class) *Class {
	n := o.Negate()
	if o.Bytes != c.Bytes {
		// Negate o in the kind of c: values that only that kind has must not be lost.
		n = canonical(c.Bytes, slices.Clone(o.Ranges)).Negate()
	}
	return c.Intersect(n)
}

// SymmetricDifference returns the values in exactly one of c and o.
func (c *Class) SymmetricDifference(o *Class) *Class {
	return c.Union(o).Difference(c.Intersect(o))
}

// FoldASCII adds the other case of every ASCII letter in the class.
func (c *Class) FoldASCII() *Class {
	out := slices.Clone(c.Ranges)
	for _, r := range c.Ranges {
		if r.Lo > 'z' {
			break
		}
		if lo, hi := max(r.Lo, 'a'), min(r.Hi, 'z'); lo <= hi {
			out = append(out, Range{lo - 'a' + 'A', hi - 'a' + 'A'})
		}
		if lo, hi := max(r.Lo, 'A'), min(r.Hi, 'Z'); lo <= hi {
			out = append(out, Range{lo - 'A' + 'a', hi - 'A' + 'a'})
		}
	}
	return canonical(c.Bytes, out)
}

// Fold adds all values that differ from a value of the class only by Unicode's simple case
// folding, for bytes by ASCII case.
func (c *Class) Fold() *Class {
	if c.Bytes {
		return c.FoldASCII()
	}
	return c.Union(ScalarClass(ucd.Folds(c.Ranges)))
}
