package fuzzy

import (
	"bytes"
	"math/bits"
	"strings"
)

// Scores of a term by the place and kind of its match. Their order and distances matter
// more than their size, because the scores of several terms are added. They were tuned on
// the Linux tree with the queries of Report, against fzf.
const (
	nameExact   = 1000
	stemExact   = 985
	headExact   = 970 // the name up to its first dot
	prefixWord  = 822 // the name begins with the term, which ends at the end of a word
	namePrefix  = 820
	wholeWord   = 780 // the term equals words of the name
	wordPrefix  = 730
	initialsAll = 700
	stemTypo    = 690
	folderExact = 640
	wordTypo    = 600
	wordSuffix  = 580
	inside      = 540
	initialsTop = 520 // the initials of the name's first words
	prefixTypo  = 500
	folderStart = 470
	folderWord  = 430
	folderPart  = 330
	folderTypo  = 320
	lettersMost = 300 // the maximum for letters in order in the name
	scattered   = 150 // and the minimum
	strewnMost  = 140 // the maximum for letters in order in the path
	strewn      = 20  // and the minimum

	most = nameExact + rawBonus

	repeated  = 300 // penalty for a word of the query that occurs less often than in the query
	beside    = 120 // bonus for a folder if the query has several words
	adjoining = 60  // bonus for adjacent folders of one word of the query
	rawBonus  = 6   // bonus for the same case
	asFolder  = 200 // penalty for a word of the query that names a folder, not the file

	minTypo     = 4 // minimum length of a term that may have a typo
	minInitials = 2
)

// score rates a path. The score is scaled by 16, so that length decides between equal matches.
// best is the best score so far; a path whose score Rank would drop because of best may get 0.
func (q *Query) score(p *path, s string, best int) int {
	if s == "" || !p.fill(s, q) {
		return 0
	}
	sum := 0
	several := len(q.groups) > 1
	for i := range q.groups {
		g := &q.groups[i]
		// enough reports whether Rank might keep the path if this word scored v and all
		// further words the maximum.
		enough := func(v int) bool { return 16*(sum+v+most*(len(q.groups)-1-i))/len(q.groups) >= best/2 }
		letters := enough(lettersMost)
		v := 0
		if len(g.terms) > 1 {
			v = g.inFolders(p)
			p.within = p.within && !several
		} else {
			v = g.score(p, i, several, letters)
		}
		if v == 0 || p.typos > 1 || !enough(v) {
			return 0
		}
		if g.repeats > 0 && bytes.Count(p.text, g.whole) <= g.repeats {
			v = max(v-repeated, 1)
		}
		sum += v
	}
	// Of two equally good matches, the one with fewer unmatched letters is preferred.
	rest := p.stem - p.cover
	if rest < 0 { // the query has a part of the extension, so the rest of the extension counts too
		rest = len(p.name) - p.cover
	}
	rest = min(max(rest, 0), 30)
	score := 16*sum/len(q.groups) - 16*4*rest - 16*2*min(len(p.parts), 20) - 3*min(len(p.text), 200)
	return max(score, 1)
}

// score rates the i-th word of the query, which has no slashes. letters says whether its
// letters may be scattered.
func (g *group) score(p *path, i int, several, letters bool) int {
	t := &g.terms[0]
	v, cover, typo := p.inName(t)
	p.direct = !several && v > 0 && !typo
	p.named = p.direct && v >= headExact
	if k := &p.known[i]; !k.known {
		k.known = true
		k.value, k.typo = p.inFolders(t)
	}
	w, wtypo := p.known[i].value, p.known[i].typo
	p.within = !several && w == folderExact
	if p.exact && !p.direct && !p.within {
		return 0
	}
	if several && w >= folderWord {
		w += beside
	}
	if w > v {
		v, cover, typo = w, 0, wtypo
	}
	if v < folderStart && g.words != nil {
		if w, c := p.anyOrder(g); w > v {
			v, cover, typo = w, c, false
		}
	}
	if v == 0 && letters {
		if v, cover = p.glued(t.text, t.mask); v == 0 {
			v, cover = p.scatter(t.text, t.mask)
		}
	}
	if typo {
		p.typos++
	}
	p.cover += cover
	return v
}

// inName rates a term against the name. It returns the score, how many bytes of the stem the
// term covers, and whether the term matches only with a typo.
func (p *path) inName(t *term) (v, cover int, typo bool) {
	name, text := p.name, t.text
	stem := name[:p.stem]
	missing := bits.OnesCount64(t.mask &^ p.own)
	if missing > 1 {
		return 0, 0, false
	}
	if missing == 0 {
		v = p.nameValue(text)
	}
	if v > 0 {
		if v >= headExact && strings.HasPrefix(p.raw[len(p.dir):], t.raw) {
			v += rawBonus
		}
		if v == initialsAll || v == initialsTop {
			return v, p.stem * len(text) / max(len(p.heads), 1), false
		}
		return v, len(text), false
	}
	if len(text) < minTypo || len(name) < len(text)-1 {
		return 0, 0, false
	}
	switch {
	case within1(text, stem) || within1(text, name):
		return stemTypo, p.stem, true
	case p.wordWithin1(text):
		return wordTypo, len(text), true
	case len(text) > minTypo && prefixWithin1(text, name):
		return prefixTypo, len(text), true
	}
	return 0, 0, false
}

// nameValue rates a text that is a part of the name, or the initials of the name's words.
func (p *path) nameValue(text []byte) int {
	name := p.name
	switch {
	case bytes.Equal(name, text):
		return nameExact
	case bytes.Equal(name[:p.stem], text):
		return stemExact
	case bytes.Equal(name[:p.first], text):
		return headExact
	case bytes.HasPrefix(name, text):
		if p.ends(p.base + len(text)) {
			return prefixWord
		}
		return namePrefix
	}
	v := p.valueIn(text, p.base, len(p.text), wholeWord, wordPrefix, wordSuffix, inside)
	if len(text) >= minInitials && v < initialsAll && len(name) > 0 && name[0] == text[0] {
		p.split()
		switch {
		case bytes.Equal(p.heads, text):
			v = max(v, initialsAll)
		case len(text) > minInitials && bytes.HasPrefix(p.heads, text):
			v = max(v, initialsTop)
		}
	}
	return v
}

// valueIn rates the best occurrence of text in a part of the path.
func (p *path) valueIn(text []byte, from, to, whole, start, end, in int) int {
	best := 0
	for at := from; ; {
		i := bytes.Index(p.text[at:to], text)
		if i < 0 {
			return best
		}
		at += i
		v := in
		switch starts, ends := p.starts(at), p.ends(at+len(text)); {
		case starts && ends:
			return whole
		case starts:
			v = start
		case ends:
			v = end
		}
		best = max(best, v)
		at++
	}
}

// wordWithin1 reports whether text, with a typo, equals a word of the name.
func (p *path) wordWithin1(text []byte) bool {
	p.split()
	if len(p.words) < 2 {
		return false // its only word is the whole stem
	}
	for i, at := range p.words {
		end := p.stem
		if i+1 < len(p.words) {
			end = p.words[i+1]
			for end > at && class[p.name[end-1]] == separator {
				end--
			}
		}
		if end-at >= minTypo-1 && within1(text, p.name[at:end]) {
			return true
		}
	}
	return false
}

// inFolders rates a term against all folders, and returns the best score.
func (p *path) inFolders(t *term) (v int, typo bool) {
	for i := len(p.parts) - 1; i >= 0; i-- {
		w, wtypo := p.inFolder(t, i)
		if w > v {
			v, typo = w, wtypo
		}
	}
	return v, typo
}

func (p *path) inFolder(t *term, i int) (v int, typo bool) {
	f, text := p.parts[i], t.text
	name := p.text[f.start:f.end]
	switch {
	case len(name)+1 < len(text):
		return 0, false
	case bytes.Equal(name, text):
		return folderExact, false
	case bytes.HasPrefix(name, text):
		return folderStart, false
	}
	if v = p.valueIn(text, f.start, f.end, folderWord, folderWord-20, folderPart+20, folderPart); v > 0 {
		return v, false
	}
	if len(text) > minTypo && within1(text, name) {
		return folderTypo, true
	}
	return 0, false
}

// inFolders rates the terms of a group with slashes. The last term matches the name, or else a
// folder; the others match folders above it, in the same order.
func (g *group) inFolders(p *path) int {
	last := &g.terms[len(g.terms)-1]
	if p.below(g.terms) {
		p.within = true
		if v, _, _ := p.inName(last); v == 0 {
			return folderExact
		}
	}
	v, cover, typo := p.inName(last)
	if v == 0 {
		v, cover = p.scatter(last.text, last.mask)
	}
	if v > 0 {
		if w, typos, ok := p.chain(g.terms[:len(g.terms)-1], len(p.parts)); ok {
			p.cover += cover
			p.typos += typos
			if typo {
				p.typos++
			}
			return (v + w) / len(g.terms)
		}
	}
	if w, typos, ok := p.chain(g.terms, -1); ok && w/len(g.terms) > asFolder {
		p.typos += typos
		return w/len(g.terms) - asFolder
	}
	v, _ = p.scatter(g.whole, g.mask)
	return v
}

// below reports whether the terms equal consecutive folders of the path.
func (p *path) below(terms []term) bool {
	for from := len(p.parts) - len(terms); from >= 0; from-- {
		same := true
		for i := range terms {
			f := p.parts[from+i]
			same = same && bytes.Equal(p.text[f.start:f.end], terms[i].text)
		}
		if same {
			return true
		}
	}
	return false
}

// chain rates terms against the folders before folder next, nearest folders first. If next is
// negative, they may end anywhere before the name.
func (p *path) chain(terms []term, next int) (sum, typos int, ok bool) {
	near := next >= 0
	if !near {
		next = len(p.parts)
	}
	for i := len(terms) - 1; i >= 0; i-- {
		at, best, typo := -1, 0, false
		for j := next - 1; j >= 0; j-- {
			v, t := p.inFolder(&terms[i], j)
			if v > 0 && near && j == next-1 {
				v += adjoining
			}
			if v > best {
				at, best, typo = j, v, t
			}
		}
		if at < 0 {
			return 0, 0, false
		}
		if typo {
			typos++
		}
		sum += best
		next, near = at, true
	}
	return sum, typos, true
}

// anyOrder rates the words of a term that occur in the name in another order.
func (p *path) anyOrder(g *group) (v, cover int) {
	sum := 0
	for i := range g.words {
		w := &g.words[i]
		one := 0
		if w.mask&^p.own == 0 {
			one = p.nameValue(w.text)
		}
		if one == 0 {
			k := &p.known[g.known+i]
			if !k.known {
				k.known = true
				k.value, _ = p.inFolders(w)
			}
			if one = k.value; one == 0 {
				return 0, 0
			}
		} else {
			cover += len(w.text)
		}
		sum += one
	}
	return sum * 3 / 4 / len(g.words), cover
}
