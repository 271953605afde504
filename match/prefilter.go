package match

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/re/literal"
	"quarry/internal/re/nfa"
	"quarry/internal/re/vec"
)

// prefilter finds candidates for matches: every match contains one of its strings. It never
// misses a match, but a hit need not be one.
type prefilter struct {
	finder *vec.Finder
	fold   *vec.Finder
	multi  *vec.Multi
	lens   []int // of multi's strings
	bytes  *vec.ByteSet

	// oddCase reports that a string contains k or s in any case, which also match the Kelvin
	// sign and the long s. The kernels fold only ASCII, so a buffer that contains one of these
	// two letters is searched without the prefilter.
	oddCase bool
	// hasCR reports that a string contains \r, so that a hit may extend into a line ending.
	hasCR bool
	// longest is the length of the longest string.
	longest int
	// loose reports that a hit may not be one of the original strings.
	loose bool
}

// find returns the first hit at or after from; start is -1 if there is none.
func (p *prefilter) find(buf []byte, from int) (start, end int) {
	switch {
	case p.finder != nil:
		i := p.finder.Find(buf, from)
		return i, i + len(p.finder.Needle())
	case p.fold != nil:
		i := p.fold.Find(buf, from)
		return i, i + len(p.fold.Needle())
	case p.multi != nil:
		i, lit := p.multi.Find(buf, from)
		if i < 0 {
			return -1, -1
		}
		return i, i + p.lens[lit]
	default:
		i := p.bytes.Find(buf, from)
		return i, i + 1
	}
}

// first is find for patterns whose hits are matches. known is false if an odd letter makes it
// uncertain that the hit is the first match.
func (p *prefilter) first(buf []byte, from int) (start, end int, known bool) {
	start, end = p.find(buf, from)
	if !p.oddCase {
		return start, end, true
	}
	seen := buf[from:]
	if start >= 0 {
		// A missed earlier match would have its first odd letter in these bytes.
		seen = buf[from:min(len(buf), start+p.longest+len(kelvin))]
	}
	return start, end, p.usable(seen)
}

// countLines counts the lines with a hit. The first unbroken bytes of buf contain no line feed.
func (p *prefilter) countLines(buf []byte, unbroken int) int {
	n := 0
	for pos := 0; pos < len(buf); {
		hit, end := p.find(buf, pos)
		if hit < 0 {
			break
		}
		n++
		end = max(end, unbroken)
		i := bytes.IndexByte(buf[end:], '\n')
		if i < 0 {
			break
		}
		pos = end + i + 1
	}
	return n
}

var kelvin, longS = []byte("\u212a"), []byte("\u017f")

// oddLead is the set of first bytes of the odd letters, the Kelvin sign and the long s.
var oddLead = vec.NewByteSet(&[256]bool{0xC5: true, 0xE2: true})

// usable reports whether the prefilter finds all matches in this buffer.
func (p *prefilter) usable(buf []byte) bool {
	if !p.oddCase {
		return true
	}
	for i := oddLead.Find(buf, 0); i >= 0; i = oddLead.Find(buf, i+1) {
		rest := buf[i:]
		if len(rest) >= 2 && rest[0] == longS[0] && rest[1] == longS[1] {
			return false
		}
		if len(rest) >= 3 && rest[0] == kelvin[0] && rest[1] == kelvin[1] && rest[2] == kelvin[2] {
			return false
		}
	}
	return true
}

// newPrefilter builds a prefilter for a set, or returns nil if it would not help.
func newPrefilter(set literal.Set) *prefilter {
	if len(set) == 0 {
		return nil
	}
	set, loose := expandFolds(set)
	if set == nil {
		return nil
	}
	p := &prefilter{loose: loose}
	fold, plain := 0, 0
	texts := make([][]byte, len(set))
	for i, lit := range set {
		texts[i] = []byte(lit.Text)
		p.longest = max(p.longest, len(lit.Text))
		p.hasCR = p.hasCR || strings.Contains(lit.Text, "\r")
		if lit.Fold {
			fold++
			p.oddCase = p.oddCase || !lit.ASCII && literal.HasOddCase(lit.Text)
		} else if hasCaseASCII(lit.Text) {
			plain++
		}
	}
	if fold > 0 && plain > 0 {
		p.loose = true // the kernels fold all strings of a set or none
	}
	switch {
	case len(set) == 1 && fold == 0:
		p.finder = vec.NewFinder(texts[0])
	case len(set) == 1:
		p.fold = vec.NewFoldFinder(texts[0])
	default:
		p.multi = vec.NewMulti(texts, fold > 0)
		for _, t := range texts {
			p.lens = append(p.lens, len(t))
		}
	}
	return p
}

// maxVariants limits the case variants of one string with non-ASCII letters, and maxStrings
// the total number of strings.
const (
	maxVariants = 16
	maxStrings  = 64
)

// expandFolds replaces folded strings with non-ASCII letters by all their case variants, since
// the kernels fold only ASCII. A string with too many variants is truncated; then loose is
// set, because a hit is only a hint.
func expandFolds(set literal.Set) (out literal.Set, loose bool) {
	for _, lit := range set {
		if !lit.Fold || isASCII(lit.Text) {
			out = append(out, lit)
			continue
		}
		variants, cut := caseVariants(lit.Text)
		loose = loose || cut
		for _, v := range variants {
			out = append(out, literal.Lit{Text: v, Fold: true, ASCII: lit.ASCII})
		}
		if len(out) > maxStrings {
			return nil, false
		}
	}
	return out, loose
}

func caseVariants(text string) (variants []string, cut bool) {
	variants = []string{""}
	for len(text) > 0 {
		// DecodeRune returns RuneError of size 1 for invalid UTF-8. Such a byte matches
		// itself, like U+FFFD.
		r, size := utf8.DecodeRuneInString(text)
		orbit := []string{text[:size]}
		if r >= utf8.RuneSelf {
			for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
				orbit = append(orbit, string(o))
			}
		}
		if len(variants)*len(orbit) > maxVariants {
			return variants, true
		}
		var next []string
		for _, v := range variants {
			for _, o := range orbit {
				next = append(next, v+o)
			}
		}
		variants, text = next, text[size:]
	}
	return variants, false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func hasCaseASCII(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; 'a' <= c && c <= 'z' {
			return true
		}
	}
	return false
}

// bestSet returns the clause of a need whose strings are probably rarest in text, or nil if
// none is worth searching for.
func bestSet(n *literal.Need) literal.Set {
	set, freq := cheapest(n)
	if set == nil || freq > commonHits {
		return nil
	}
	return set
}

// commonHits is the number of hits per byte, about one every 24 bytes, above which examining
// hits costs more than running the automaton over the whole text.
const commonHits = 1.0 / 24

func cheapest(n *literal.Need) (literal.Set, float64) {
	switch n.Op {
	case literal.OneOf:
		return n.Set, setFrequency(n.Set)
	case literal.And:
		var best literal.Set
		low := math.Inf(1)
		for _, sub := range n.Subs {
			if set, f := cheapest(sub); set != nil && f < low {
				best, low = set, f
			}
		}
		return best, low
	case literal.Or:
		var all literal.Set
		sum := 0.0
		for _, sub := range n.Subs {
			set, f := cheapest(sub)
			if set == nil || len(all)+len(set) > maxStrings {
				return nil, math.Inf(1)
			}
			if !slices.ContainsFunc(set, func(l literal.Lit) bool { return !slices.Contains(all, l) }) {
				continue // the set is known: key and secret in both orders need the same strings
			}
			all, sum = append(all, set...), sum+f
		}
		return all, sum
	}
	return nil, math.Inf(1)
}

// setFrequency estimates the number of hits per byte of text. Letters in a word are not
// independent, so each further byte counts half its information.
func setFrequency(set literal.Set) float64 {
	sum := 0.0
	for _, lit := range set {
		rarest, rest := math.Inf(1), 0.0
		for i := range len(lit.Text) {
			bits := 26 - float64(vec.Frequency(lit.Text[i]))/8 // -log2 of its probability
			if lit.Fold && hasCaseASCII(lit.Text[i:i+1]) {
				bits = max(0, bits-0.5)
			}
			rarest = min(rarest, -bits)
			rest += bits / 2
		}
		rest += rarest / 2 // don't count the rarest byte twice
		sum += math.Exp2(rarest - max(0, rest))
	}
	// Searching for many strings is slower than for one.
	return sum * (1 + float64(len(set))/16)
}

// firstBytes makes a prefilter of the first bytes of matches, if these bytes are rare in text,
// as for \p{Greek} but not for \w.
func firstBytes(prog *nfa.Prog) *prefilter {
	if prog.Nullable {
		return nil
	}
	set := prog.First
	freq := 0.0
	for b, in := range set {
		if in {
			freq += math.Exp2(float64(vec.Frequency(byte(b)))/8 - 26)
		}
	}
	if freq > 1.0/64 {
		return nil
	}
	return &prefilter{bytes: vec.NewByteSet(&set), loose: true}
}
