package trigram

import (
	"encoding/binary"
	"slices"

	"quarry/match"
)

// Op is the kind of a Formula.
type Op uint8

const (
	Any    Op = iota // no condition
	Never            // nothing can satisfy it
	All              // every one of Grams and Subs
	Either           // one of Subs
)

// Formula is a condition on the grams of a text. The zero value requires nothing.
type Formula struct {
	Op    Op
	Grams []Gram // with All; sorted, each once
	Subs  []Formula
}

// From converts the needs of a pattern to grams.
func From(n match.Need) Formula {
	switch n.Op {
	case match.NeedNever:
		return Formula{Op: Never}
	case match.NeedOneOf:
		subs := make([]Formula, len(n.Texts))
		for i, t := range n.Texts {
			subs[i] = literal(t.Text, t.Fold)
		}
		return either(subs)
	case match.NeedAll:
		return all(translate(n.Subs))
	case match.NeedEither:
		return either(translate(n.Subs))
	}
	return Formula{}
}

func translate(needs []match.Need) []Formula {
	subs := make([]Formula, len(needs))
	for i, n := range needs {
		subs[i] = From(n)
	}
	return subs
}

// literal requires the grams of s. With fold set, s may occur in any case, so a gram with
// letters must occur with or without capitals.
func literal(s string, fold bool) Formula {
	var grams []Gram
	win := window(0)
	for b := []byte(s); len(b) > 0; {
		// A byte that isn't UTF-8 may be part of a character in the text, or missing in a text
		// decoded from Windows-1252. So it becomes a break, which requires nothing.
		c, size := codeAt(b)
		if string(b[:size]) == "\uFFFD" {
			// An engine that works on characters reads invalid bytes as U+FFFD.
			c = classBreak
		}
		b = b[size:]
		win = win.push(c)
		if g := win.gram(); !g.broken() {
			if fold {
				g &^= capital
			}
			grams = append(grams, g)
		}
	}
	slices.Sort(grams)
	out := Formula{Op: All}
	for _, g := range slices.Compact(grams) {
		if fold && g.hasLetter() {
			out.Subs = append(out.Subs, anyCase(g))
		} else {
			out.Grams = append(out.Grams, g)
		}
	}
	return all([]Formula{out})
}

// anyCase requires g, which has no capitals, or its form with capitals.
func anyCase(g Gram) Formula {
	return Formula{Op: Either, Subs: []Formula{
		{Op: All, Grams: []Gram{g}},
		{Op: All, Grams: []Gram{g | capital}},
	}}
}

// all joins conditions that must hold together. Grams of nested conditions move up.
func all(subs []Formula) Formula {
	out := Formula{Op: All}
	for _, s := range subs {
		switch s.Op {
		case Never:
			return Formula{Op: Never}
		case All:
			out.Grams = append(out.Grams, s.Grams...)
			out.Subs = append(out.Subs, s.Subs...)
		case Either:
			out.Subs = append(out.Subs, s)
		}
	}
	slices.Sort(out.Grams)
	out.Grams = slices.Compact(out.Grams)
	switch {
	case len(out.Grams) == 0 && len(out.Subs) == 0:
		return Formula{}
	case len(out.Grams) == 0 && len(out.Subs) == 1:
		return out.Subs[0]
	}
	return out
}

// either joins alternatives. If one of them requires nothing, the result requires nothing.
func either(subs []Formula) Formula {
	out := Formula{Op: Either}
	known := map[string]bool{} // alternatives that differ only in case are equal
	for _, s := range subs {
		switch s.Op {
		case Any:
			return Formula{}
		case All:
			if len(s.Subs) == 0 {
				name := nameOf(s.Grams)
				if known[name] {
					continue
				}
				known[name] = true
			}
			out.Subs = append(out.Subs, s)
		case Either:
			out.Subs = append(out.Subs, s.Subs...)
		}
	}
	switch len(out.Subs) {
	case 0:
		return Formula{Op: Never}
	case 1:
		return out.Subs[0]
	}
	return out
}

func nameOf(grams []Gram) string {
	name := make([]byte, 0, 4*len(grams))
	for _, g := range grams {
		name = binary.LittleEndian.AppendUint32(name, uint32(g))
	}
	return string(name)
}

// Holds reports whether a text satisfies the formula; has reports whether the text has a gram.
// It defines formulas, and is the reference for the planner.
func (f Formula) Holds(has func(Gram) bool) bool {
	switch f.Op {
	case Never:
		return false
	case All:
		for _, g := range f.Grams {
			if !has(g) {
				return false
			}
		}
		for _, s := range f.Subs {
			if !s.Holds(has) {
				return false
			}
		}
	case Either:
		return slices.ContainsFunc(f.Subs, func(s Formula) bool { return s.Holds(has) })
	}
	return true
}
