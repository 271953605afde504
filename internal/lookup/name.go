package lookup

import (
	"bytes"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/rank"
	"quarry/internal/symbols"
	"quarry/internal/terms"
	"quarry/search"
)

// Name is a query for definitions by name, optionally with container and kinds.
type Name struct {
	text      string // "" selects every definition
	key       string
	wanted    []byte   // key of text
	container []string // components of the container
	folded    string   // last component of the container, folded
	fuzzy     bool
	kinds     *[symbols.KindEnd]bool // nil means all kinds
	typo      *typo
	upper     bool     // the name has a capital letter
	parts     [][]byte // the words of the name, folded, longest first; nil if there is one
}

// Compile prepares a query for definitions.
func Compile(q *search.SymbolQuery) (*Name, error) {
	n := &Name{fuzzy: q.Fuzzy}
	for _, kind := range append([]string{q.Kind}, q.Kinds...) {
		if kind == "" {
			continue
		}
		family := symbols.Family(kind)
		if family == nil {
			return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("unknown kind of definition %q", kind), "the kinds are "+strings.Join(symbols.Kinds(), ", "))
		}
		if n.kinds == nil {
			n.kinds = new([symbols.KindEnd]bool)
		}
		for _, k := range family {
			n.kinds[k] = true
		}
	}
	n.container, n.text = splitName(q.Name)
	n.key = symbols.Key(n.text)
	n.wanted = []byte(n.key)
	n.upper = hasUpper([]byte(n.text))
	if len(n.container) > 0 {
		n.folded = symbols.Key(n.container[len(n.container)-1])
	}
	if n.fuzzy {
		n.typo, n.parts = newTypo(n.key), partsOf(n.text)
	}
	return n, nil
}

// splitName splits a name such as Store.Open, Store::open or Store#open into the components
// of its container and the short name.
func splitName(name string) (container []string, short string) {
	name = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(name), "()"))
	i := strings.LastIndexAny(name, ".:#\\")
	if i < 0 || i == len(name)-1 {
		return nil, name
	}
	container = strings.FieldsFunc(name[:i], func(r rune) bool { return strings.ContainsRune(".:#\\", r) })
	if len(container) == 0 { // a private member, such as #private
		return nil, name
	}
	return container, name[i+1:]
}

// All reports whether no name was given, so that every definition matches.
func (n *Name) All() bool { return n.text == "" }

// Fuzzy reports whether the query includes similar names.
func (n *Name) Fuzzy() bool { return n.fuzzy }

// Key returns the key of the name without its container.
func (n *Name) Key() []byte { return []byte(n.key) }

// Text returns the name without its container. Every text that defines exactly this name
// contains it.
func (n *Name) Text() string { return n.text }

// Takes reports whether the query includes definitions of a kind.
func (n *Name) Takes(k symbols.Kind) bool { return n.kinds == nil || n.kinds[k] }

// Likeness returns how similar a defined name is to the wanted one, and the kind of
// similarity. key is the key of name. 0 means not similar.
func (n *Name) Likeness(name, key []byte) (float64, Reach) {
	same := bytes.Equal(key, n.wanted)
	if same && (string(name) == n.text || len(name) > len(n.text) && name[len(name)-len(n.text)-1] == '.' && string(name[len(name)-len(n.text):]) == n.text) {
		return 10, Same
	}
	if !n.fuzzy || n.key == "" {
		return 0, Same
	}
	if same {
		return 6, Same
	}
	v, edits := n.typo.likeness(key)
	if edits > 0 && hasUpper(name) != n.upper {
		v -= 0.3 // someone who types iit hardly means INIT
	}
	switch {
	case bytes.HasPrefix(key, n.wanted):
		return max(3+float64(len(n.key))/float64(len(key)), v), Begins
	case edits == 1:
		return v, Typo
	case edits == 2:
		return v, Far
	case len(n.key) < minPart:
	case bytes.Contains(key, n.wanted):
		return 2 + float64(len(n.key))/float64(len(key)), Part
	case bytes.IndexByte(name, '.') >= 0 && bytes.Contains(symbols.AppendFolded(nil, name), n.wanted):
		return 1.5, Part // for example Node in Node.js, whose key is made of the last component
	}
	if shared := n.shared(key); shared > 1 {
		return float64(shared) + float64(len(n.key))/float64(len(n.key)+len(key)), Shares
	}
	return 0, Same
}

// partsOf returns the words of a name that are worth looking for in other names. It returns nil
// unless there are two.
func partsOf(name string) [][]byte {
	var parts [][]byte
	terms.EachPart([]byte(name), func(start, end int, _ bool) {
		if part := symbols.AppendFolded(nil, []byte(name[start:end])); end-start >= minShared && !slices.ContainsFunc(parts, func(p []byte) bool { return bytes.Equal(p, part) }) {
			parts = append(parts, part)
		}
	})
	if len(parts) < 2 {
		return nil
	}
	slices.SortStableFunc(parts, func(a, b []byte) int { return len(b) - len(a) })
	return parts
}

func (n *Name) shared(key []byte) (count int) {
	for _, part := range n.parts {
		if bytes.Contains(key, part) {
			count++
		}
	}
	return count
}

// Parts returns the words of the name. Each name that shares two of them contains one of these.
func (n *Name) Parts() [][]byte { return n.parts[:max(len(n.parts)-1, 0)] }

// hasUpper reports whether a name has a capital letter.
func hasUpper(name []byte) bool {
	return slices.ContainsFunc(name, func(c byte) bool { return 'A' <= c && c <= 'Z' })
}

// AtMost returns an upper bound for the score of a definition with this likeness and
// kind.
func (n *Name) AtMost(likeness float64, kind symbols.Kind) float64 {
	if n.folded != "" {
		return math.Inf(1)
	}
	return likeness + 2*rank.KindWeight(kind) + 1
}

// Part returns the folded name, to find names that contain it. It returns nil if the name
// is too short for such a search.
func (n *Name) Part() []byte {
	if len(n.key) < minPart {
		return nil
	}
	return n.wanted
}

// Between returns a function that reports whether any key from lo to hi, inclusive, may
// belong to a name of the given reach. A nil hi means no upper limit. For the reach Part,
// Between returns nil.
func (n *Name) Between(of Reach) func(lo, hi []byte) bool {
	switch {
	case of <= Begins:
		return func(lo, hi []byte) bool {
			return (hi == nil || bytes.Compare(hi, n.wanted) >= 0) && (bytes.Compare(lo, n.wanted) <= 0 || bytes.HasPrefix(lo, n.wanted))
		}
	case of == Typo:
		return n.typo.one
	case of == Far:
		return n.typo.two
	}
	return nil
}

// minPart is the minimum length of a name that is also searched inside other names.
const minPart = 3

// minShared is the minimum length of a word that names can share.
const minShared = 4

// Containers are compared first, so each of these values exceeds the rest of a score.
const (
	exactContainer  = 1000 // the wanted Store.Open is defined as Open in Store or in x.Store
	foldedContainer = 500  // in store, in another case
	placeContainer  = 250  // in store.py, or in a folder store
	likeContainer   = 100  // in StoreOptions
)

// Score rates a definition with a similar name. weight is the Weight of its path.
func (n *Name) Score(likeness float64, kind symbols.Kind, container, file string, weight float64) float64 {
	v := likeness + 2*rank.KindWeight(kind)
	if kind == symbols.Module { // every file has a package clause
		v--
	}
	if container == "" {
		v++
	}
	v = max(v, 0.1) * weight
	if n.folded != "" {
		v += n.within(container, file)
	}
	return v
}

// Weight returns the weight of a path. Among otherwise equal definitions, one closer to
// the top is likelier to be wanted.
func Weight(path string) float64 {
	return rank.PathWeight(path) * (1 - 0.01*float64(min(strings.Count(path, "/"), 20)))
}

func (n *Name) within(container, file string) float64 {
	parts := strings.FieldsFunc(container, func(r rune) bool { return r == '.' || r == ':' })
	want := n.container
	if same := min(len(parts), len(want)); same > 0 {
		exact := true
		for i := 1; i <= same; i++ {
			exact = exact && parts[len(parts)-i] == want[len(want)-i]
		}
		switch last := symbols.Key(parts[len(parts)-1]); {
		case exact:
			return exactContainer
		case last == n.folded:
			return foldedContainer
		case strings.Contains(last, n.folded):
			return likeContainer
		}
	}
	dir, base := path.Split(file)
	if symbols.Key(strings.TrimSuffix(base, path.Ext(base))) == n.folded || symbols.Key(path.Base(dir)) == n.folded {
		return placeContainer
	}
	return 0
}

// Alone reports whether only the best definition answers the query, because it is the only
// one with exactly this container. best and second are the two highest scores.
func (n *Name) Alone(best, second float64) bool {
	return n.folded != "" && best >= exactContainer && second < exactContainer
}
