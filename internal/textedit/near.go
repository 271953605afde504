package textedit

import (
	"html"
	"regexp"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"quarry/internal/textfile"
)

// Near is the text in a file that is most similar to a missing text. It is used in
// explanations and never replaced.
type Near struct {
	// First and Last are its line numbers, Start and End its span in the decoded text.
	First, Last int
	Start, End  int
	Text        string
	// Similarity is 1 if the texts differ only in white space, case, quotes and the like.
	// Otherwise each changed character lowers it.
	Similarity float64
	// Reason describes the difference in a few words.
	Reason string

	given string
	doc   *textfile.Text
	folds fold
}

const (
	// nearWindow limits the wanted text that is compared with each part of the file, in folded
	// characters. Only the beginning of a longer text is used.
	nearWindow = 4096
	// nearAlign limits the exact alignment: 1,024 characters against a region at most twice as
	// long are 3 million cells, about 5 ms per candidate.
	nearAlign = 1024
	// nearScan limits the bytes searched, at about 100 MB per second.
	nearScan       = 128 << 20
	nearCandidates = 5
)

// Closest returns the part of the document most similar to old, or nil if none is worth
// showing. It takes at most one pass over the text (limited to 128 MB) and a few alignments of
// limited size.
func Closest(d *textfile.Text, old string) *Near {
	given := textfile.LF.Convert(strings.ToValidUTF8(old, "\uFFFD"))
	if n := misread(d, given); n != nil {
		return n
	}
	size := min(d.Len(), nearScan)
	want := skeleton(given, 0, len(given))
	if len(want.runes) == 0 || size == 0 {
		return nil
	}
	var best *Near
	bestScore := -1.0
	for _, c := range candidates(d, size, want.runes) {
		start, end, sim := alignIn(d, size, c, want.runes)
		if sim > bestScore {
			bestScore = sim
			best = &Near{Start: start, End: end, Similarity: sim}
		}
	}
	if best == nil || bestScore < 0.6 || utf8.RuneCountInString(strings.TrimSpace(given)) < 4 && bestScore < 1 {
		return nil
	}
	best.doc, best.given = d, given
	best.widen()
	best.finish()
	best.explain()
	return best
}

func (n *Near) finish() {
	n.Text = string(n.doc.Slice(n.Start, n.End))
	n.First = n.doc.LineAt(n.Start)
	n.Last = max(n.First, n.doc.LineAt(max(n.Start, n.End-1)))
}

var lineNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*[0-9]+(?:: ?|[ \t]*\| ?|\t|→)`)
})

// misread recognizes frequent mistakes of callers: text copied with the line numbers of a
// listing, doubly escaped characters, and HTML entities. It reports them only if the corrected
// text is in the file.
func misread(d *textfile.Text, given string) *Near {
	try := func(s, reason string) *Near {
		if s == given || s == "" {
			return nil
		}
		start, end, ok := newMatcher(d, s).first()
		if !ok {
			return nil
		}
		n := &Near{Start: start, End: end, Similarity: 1, Reason: reason, given: given, doc: d}
		n.finish()
		return n
	}
	body := strings.TrimSuffix(given, "\n")
	if found := lineNumber().FindAllStringIndex(body, -1); len(found) == strings.Count(body, "\n")+1 {
		if n := try(lineNumber().ReplaceAllString(given, ""), "you gave line numbers, which are not part of the file"); n != nil {
			return n
		}
	}
	if strings.Contains(given, "&") {
		if n := try(html.UnescapeString(given), "you gave HTML entities (&lt;, &amp;) where the file has the characters themselves"); n != nil {
			return n
		}
	}
	if strings.Contains(given, `\`) {
		s := strings.NewReplacer(`\r\n`, "\n", `\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`).Replace(given)
		return try(s, `you gave a backslash and a letter (\n, \t, \") where the file has the character itself`)
	}
	return nil
}

// folded is a text reduced for comparison: without white space and invisible characters, with one
// kind of quote and dash, decomposed, and in one case. off has the original offset of each character.
type folded struct {
	runes []rune
	off   []int
}

func skeleton[T string | []byte](text T, start, end int) folded {
	var f folded
	var buf []rune
	for at := start; at < end; {
		r, n := decode(text[at:end])
		if !unicode.IsSpace(r) {
			buf = appendFolded(buf[:0], r, foldRunes)
			for _, c := range buf {
				if c != ' ' {
					f.runes, f.off = append(f.runes, c), append(f.off, at)
				}
			}
		}
		at += n
	}
	return f
}

func decode[T string | []byte](s T) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	switch s := any(s).(type) {
	case string:
		return utf8.DecodeRuneInString(s)
	case []byte:
		return utf8.DecodeRune(s)
	}
	return utf8.RuneError, 1
}

// candidate is a window of the text that shares many short sequences of characters with the
// wanted text.
type candidate struct{ start, end, score int }

// grams is a set of sequences of up to four characters, stored as a bitmap of hashes of 8 KB.
// A hash collision only makes a window look slightly more similar than it is.
type grams struct {
	bits [1 << 10]uint64
	mask uint64
}

func (g *grams) slot(key uint64) (int, uint64) {
	h := (key & g.mask) * 0x9E3779B97F4A7C15 >> 48
	return int(h >> 6), 1 << (h & 63)
}

func (g *grams) has(key uint64) bool { i, b := g.slot(key); return g.bits[i]&b != 0 }

func newGrams(want []rune) *grams {
	n := 4
	if len(want) < 12 {
		n = min(len(want), 2)
	}
	g := &grams{mask: 1<<(16*n) - 1}
	if n == 4 {
		g.mask = ^uint64(0)
	}
	var key uint64
	for i, r := range want {
		if key = key<<16 | uint64(r&0xFFFF); i >= n-1 {
			w, b := g.slot(key)
			g.bits[w] |= b
		}
	}
	return g
}

// asciiFold folds ASCII characters like skeleton. Characters mapped to 0 are omitted.
var asciiFold = func() (t [utf8.RuneSelf]byte) {
	for i := range t {
		if !unicode.IsSpace(rune(i)) {
			t[i] = byte(appendFolded(nil, rune(i), foldRunes)[0])
		}
	}
	return t
}()

// slider holds the hits of the current window of folded characters.
type slider struct {
	g     *grams
	ring  []int // for each character in the window: its offset times two, plus 1 if it was a hit
	pos   int
	score int
	key   uint64
	peak  candidate
	best  []candidate
	since int // characters since the best window
}

// candidates slides a window over the text, and returns the windows that share the most grams
// with want.
func candidates(d *textfile.Text, size int, want []rune) []candidate {
	want = want[:min(len(want), nearWindow)]
	s := &slider{g: newGrams(want), ring: make([]int, len(want))}
	at := 0
	for text := range d.Spans(0, size) {
		s.slide(text, at)
		at += len(text)
	}
	s.keep()
	sort.SliceStable(s.best, func(i, j int) bool { return s.best[i].score > s.best[j].score })
	return s.best
}

// slide adds text, which begins at offset base.
func (s *slider) slide(text []byte, base int) {
	var buf []rune
	for at := 0; at < len(text); {
		if b := text[at]; b < utf8.RuneSelf {
			if c := asciiFold[b]; c != 0 {
				s.push(rune(c), base+at, base+at+1)
			}
			at++
			continue
		}
		r, n := utf8.DecodeRune(text[at:])
		if !unicode.IsSpace(r) {
			buf = appendFolded(buf[:0], r, foldRunes)
			for _, c := range buf {
				if c != ' ' {
					s.push(c, base+at, base+at+n)
				}
			}
		}
		at += n
	}
}

func (s *slider) push(c rune, at, end int) {
	s.key = s.key<<16 | uint64(c&0xFFFF)
	s.score -= s.ring[s.pos] & 1
	hit := 0
	if s.g.has(s.key) {
		hit = 1
		s.score++
	}
	s.ring[s.pos] = at<<1 | hit
	if s.pos++; s.pos == len(s.ring) {
		s.pos = 0
	}
	if s.score > s.peak.score {
		s.peak = candidate{s.ring[s.pos] >> 1, end, s.score}
		s.since = 0
	} else if s.since++; s.since > len(s.ring) {
		s.keep()
	}
}

// keep adds the best window since the last call to the list of candidates.
func (s *slider) keep() {
	s.since = 0
	p := s.peak
	s.peak = candidate{}
	if p.score == 0 {
		return
	}
	if len(s.best) < nearCandidates {
		s.best = append(s.best, p)
		return
	}
	worst := 0
	for i := range s.best {
		if s.best[i].score < s.best[worst].score {
			worst = i
		}
	}
	if p.score > s.best[worst].score {
		s.best[worst] = p
	}
}

// nearRegion limits the text around a candidate that is searched.
const nearRegion = 4 << 20

// alignIn aligns want with the text around the candidate.
func alignIn(d *textfile.Text, size int, c candidate, want []rune) (start, end int, similarity float64) {
	from := runeStart(d, max(0, c.start-1024))
	to := runeStart(d, min(size, max(c.end+1024, c.end+4*len(want)+4096)))
	if to-from > nearRegion {
		return c.start, c.end, 0
	}
	start, end, similarity = align(d.Slice(from, to), candidate{c.start - from, c.end - from, c.score}, want)
	return start + from, end + from, similarity
}

// runeStart returns the start of the character at an offset.
func runeStart(d *textfile.Text, off int) int {
	for off > 0 && off < d.Len() && !utf8.RuneStart(d.Byte(off)) {
		off--
	}
	return off
}

// align finds where the wanted text begins and ends near a candidate, and how similar it is to
// the text there.
func align(text []byte, c candidate, want []rune) (start, end int, similarity float64) {
	head, tail := want, want
	if len(want) > nearAlign {
		head, tail = want[:nearAlign/2], want[len(want)-nearAlign/2:]
	}
	margin := min(len(head), 256) * 2
	f := skeleton(text, runeFloor(text, c.start-margin), runeFloor(text, c.end+margin))
	if len(head) < len(want) {
		n := min(len(f.runes), 3*len(head))
		f = folded{f.runes[:n], f.off[:n]}
	}
	dist, i, j := sellers(head, f.runes)
	if j <= i {
		return c.start, c.end, 0
	}
	start, end = f.off[i], charEnd(text, f.off[j-1])
	total := len(head)
	if len(head) < len(want) {
		// Search the end around the position expected from the length of the wanted text.
		guess := min(len(text), start+4*len(want))
		f = skeleton(text, start, runeFloor(text, guess))
		lo := max(0, min(len(want)-2*len(tail), len(f.runes)))
		hi := min(len(want)+len(tail), len(f.runes))
		d, _, k := sellers(tail, f.runes[lo:hi])
		if k > 0 {
			end = charEnd(text, f.off[lo+k-1])
		}
		dist, total = dist+d, total+len(tail)
	}
	return start, max(start, end), 1 - float64(dist)/float64(total)
}

func runeFloor(text []byte, off int) int {
	off = max(0, min(off, len(text)))
	for off > 0 && off < len(text) && !utf8.RuneStart(text[off]) {
		off--
	}
	return off
}

func charEnd(text []byte, off int) int {
	_, n := utf8.DecodeRune(text[off:])
	return off + n
}

// sellers finds the part of text with the smallest edit distance to pattern. It returns the
// distance and the part, the first one if there are several.
func sellers(pattern, text []rune) (dist, from, to int) {
	m := len(pattern)
	d, s := make([]int32, m+1), make([]int32, m+1)
	for i := range d {
		d[i] = int32(i)
	}
	dist = m
	for j, c := range text {
		diagD, diagS := d[0], s[0]
		d[0], s[0] = 0, int32(j+1)
		diagS = max(diagS, int32(j))
		for i := 1; i <= m; i++ {
			cost, at := diagD, diagS
			if pattern[i-1] != c {
				cost++
			}
			if v := d[i] + 1; v < cost {
				cost, at = v, s[i]
			}
			if v := d[i-1] + 1; v < cost {
				cost, at = v, s[i-1]
			}
			diagD, diagS = d[i], s[i]
			d[i], s[i] = cost, at
		}
		if int(d[m]) < dist {
			dist, from, to = int(d[m]), int(s[m]), j+1
		}
	}
	return dist, from, to
}

// widen extends the span by white space that corresponds to the white space at the ends of the
// wanted text: at most as many line breaks, and the spaces up to them.
func (n *Near) widen() {
	lead := n.given[:len(n.given)-len(strings.TrimLeftFunc(n.given, unicode.IsSpace))]
	trail := n.given[len(strings.TrimRightFunc(n.given, unicode.IsSpace)):]
	// The text searched on either side is limited.
	from := runeStart(n.doc, max(0, n.Start-nearSpace))
	to := runeStart(n.doc, min(n.doc.Len(), n.End+nearSpace))
	if lead != "" {
		text := n.doc.Slice(from, n.Start)
		breaks := strings.Count(lead, "\n")
		for len(text) > 0 {
			r, w := utf8.DecodeLastRune(text)
			if !unicode.IsSpace(r) || r == '\n' && breaks == 0 {
				break
			}
			if r == '\n' {
				breaks--
			}
			text = text[:len(text)-w]
		}
		n.Start = from + len(text)
	}
	after := n.doc.Slice(n.End, to)
	end := 0
	if trail != "" {
		breaks := strings.Count(trail, "\n")
		for end < len(after) {
			r, w := utf8.DecodeRune(after[end:])
			if !unicode.IsSpace(r) || r == '\n' && breaks == 0 {
				break
			}
			end += w
			if r == '\n' {
				if breaks--; breaks == 0 && !strings.HasSuffix(trail, " ") && !strings.HasSuffix(trail, "\t") {
					break
				}
			}
		}
		n.End += end
	}
	// A \r that belongs to the next line ending is not part of the span.
	if n.End < n.doc.Len() && n.doc.Byte(n.End) == '\n' && n.End > n.Start && n.doc.Byte(n.End-1) == '\r' {
		n.End--
	}
}

// nearSpace limits the white space by which a span is extended.
const nearSpace = 64 << 10
