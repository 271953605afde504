// Package rename finds the places to change if a definition is renamed.
//
// It knows tokens and the table of definitions. For Go it also knows the types in the
// definition's module, but not those of other modules and of the library. Every occurrence
// of the name is classified: sure, if it certainly refers to the definition; doubtful, if
// that can't be decided; and left, if it refers to something else. Strings are never
// changed.
package rename

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/lookup"
	"quarry/internal/replacer"
	"quarry/internal/rootfs/version"
	"quarry/internal/symbols"
	"quarry/internal/textfile"
	"quarry/search"
)

// Query is a request to rename a definition.
type Query struct {
	Old string // Open, Store.Open, or store.go#Store.Open if there are several
	New string
	search.Scope
	Doubtful bool // also rename doubtful places
	Sure     bool // skip doubtful places; if neither flag is set, doubtful places prevent the rename
	Comments bool // also rename in comments
}

// Place is an occurrence of the name.
type Place struct {
	Path       string
	Line       int
	Start, End int
	Text       string // the line
	Why        string // why the place is doubtful or left
}

// Plan holds the changes of a rename.
type Plan struct {
	Definition search.Symbol
	Sure       []Place
	Doubtful   []Place
	Left       []Place
	Docs       int // number of places at the start of doc comments, renamed with the definition
	Comments   int // number of other places in comments
	Strings    int // number of places in strings
	Texts      int // number of places in files that are not code
	Ops        []change.Op
}

// Source gives access to the files.
type Source interface {
	lookup.Source
	SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error)
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	Symbols(ctx context.Context, q search.SymbolQuery) (*search.SymbolResult, error)
}

// maxText is the size of the largest file that is searched.
const maxText = 8 << 20

var identifier = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$]*[?!]?$`)
})

// Find makes the plan of a rename.
func Find(ctx context.Context, from Source, q Query) (*Plan, error) {
	if !identifier().MatchString(q.New) {
		return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("invalid name %q", q.New), "give the new name alone, without its container")
	}
	f := &finder{q: q, out: &Plan{}}
	if err := f.target(ctx, from); err != nil {
		return nil, err
	}
	if err := f.module(ctx, from); err != nil {
		return nil, err
	}
	if err := f.allowed(ctx, from); err != nil {
		return nil, err
	}
	each := search.Query{Pattern: `\b` + regexp.QuoteMeta(f.name) + `\b`, Scope: q.Scope, Detail: search.Files}
	var paths []string
	sum, err := from.SearchEach(ctx, each, func(m *search.FileMatch) error {
		paths = append(paths, m.Path)
		return nil
	})
	if err != nil {
		return nil, err
	}
	long, err := replacer.Missed(sum, false)
	if err != nil {
		return nil, err
	}
	paths = append(paths, long...)
	if err := f.findCarriers(ctx, from, paths); err != nil {
		return nil, err
	}
	if err := f.checkTypes(ctx, from, paths); err != nil {
		return nil, err
	}
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err := f.file(ctx, from, p); err != nil {
			return nil, err
		}
	}
	if err := f.clash(ctx, from); err != nil {
		return nil, err
	}
	return f.out, nil
}

// finder makes one plan.
type finder struct {
	q               Query
	container, name string
	kind            string
	lang            string
	at              string // the definition's folder
	home            string // the definition's file, package and container
	pkg             string
	member          bool            // the definition is a member of a type
	bare            bool            // no base type of the member's type has such a member
	keyed           bool            // the definition is a member of an object without a type
	local           *symbols.Symbol // the function that contains the definition
	alone           bool            // no other definition has the name
	rivals          bool            // another type or namespace has the same name as the container
	carriers        map[string]bool // files, without extensions, from which the name can be imported
	same            []search.Symbol
	targets         []search.Symbol // the definitions to rename
	mod             string          // path of the Go module
	modDir          string
	types           map[spot]verdict // verdicts by Go's types
	ours            map[spot]bool    // the renamed definitions, and fields that embed them
	pkgName         string           // name of the definition's Go package
	crossing        *Place           // a place in another Go package
	out             *Plan
}

// code is a parsed file that contains the name.
type code struct {
	*finder
	path, dir string
	text      []byte
	*symbols.Code
	defs   []symbols.Symbol
	byName map[int]*symbols.Symbol // by the offset of the name

	placed, line int // offset of the latest place, and the number of lines before it
	from         *origin
	declaring    map[string]bool
	openers      []int32 // for each token, the bracket that contains it: see opener
}

// take reads and parses a file. It returns nil if the file is not code.
func (f *finder) take(ctx context.Context, from Source, p string) (*code, []byte, error) {
	data, err := from.ReadBytes(ctx, p, maxText)
	if err != nil {
		return nil, nil, err
	}
	doc, err := textfile.New(data)
	if err != nil {
		return nil, nil, nil
	}
	text := doc.Text()
	lang := symbols.Language(p, text)
	if lang == "" || lang == "Markdown" {
		f.out.Texts += countWords(string(text), f.name)
		return nil, nil, nil
	}
	c := &code{finder: f, path: p, dir: path.Dir(p), text: text, Code: symbols.Lex(func() bool { return ctx.Err() != nil }, p, text)}
	if c.Code == nil {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		return nil, nil, fault.New(fault.TooLarge, fmt.Sprintf("%s is too large to be read as code", p), "exclude it by a path")
	}
	var whole bool
	if c.defs, whole = symbols.Until(func() bool { return ctx.Err() != nil }, p, text); ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	} else if !whole {
		return nil, nil, fault.New(fault.TooLarge, fmt.Sprintf("the definitions of %s can't be read to their end", fault.Printable(p)), "exclude it by a path")
	}
	c.byName = map[int]*symbols.Symbol{}
	for k := range c.defs {
		c.byName[c.defs[k].NameAt] = &c.defs[k]
	}
	if n := countWords(string(text), f.name); n*len(c.defs) > maxCompared {
		return nil, nil, fault.New(fault.TooLarge, fmt.Sprintf("%s has the name %d times and %d definitions", fault.Printable(p), n, len(c.defs)), "exclude it by a path")
	}
	return c, data, nil
}

// file classifies the places in one file.
func (f *finder) file(ctx context.Context, from Source, p string) error {
	c, data, err := f.take(ctx, from, p)
	if c == nil {
		return err
	}
	text, lang := c.text, c.Language
	var edits []change.Edit
	docs := map[int]bool{} // places in doc comments, renamed with their definition
	put := func(at int) {
		edits = append(edits, change.Edit{Verb: change.ReplaceSpan, Start: at, End: at + len(f.name), New: f.q.New, Verbatim: true})
	}
	add := func(list *[]Place, at int, why string, rename bool) {
		pl := c.place(at, why)
		*list = append(*list, pl)
		if rename && lang == "Go" && f.crossing == nil && (c.dir != c.at || c.inExternalTest()) {
			f.crossing = &pl
		}
		if !rename {
			return
		}
		put(at)
		if lang != "Go" || c.byName[at] == nil {
			return
		}
		if doc := c.documented(at); doc >= 0 {
			docs[doc] = true
			f.out.Docs++
			put(doc)
		}
	}
	for i := range c.Tokens {
		if i%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t := &c.Tokens[i]
		switch {
		case t.Kind == symbols.Text:
			f.out.Strings += countWords(string(text[t.Start:t.End]), f.name)
		case t.Kind == symbols.Word && c.str(i) == f.name:
			switch class, why := c.judge(i, lang); class {
			case sure:
				add(&f.out.Sure, t.Start, "", true)
			case doubtful:
				add(&f.out.Doubtful, t.Start, why, f.q.Doubtful)
			default:
				add(&f.out.Left, t.Start, why, false)
			}
		}
	}
	for _, at := range c.Comments {
		comment := string(text[at[0]:at[1]])
		for _, m := range wordAt(comment, f.name) {
			if docs[at[0]+m] {
				continue
			}
			f.out.Comments++
			if f.q.Comments {
				put(at[0] + m)
			}
		}
	}
	if len(edits) > 0 {
		slices.SortFunc(edits, func(a, b change.Edit) int { return cmp.Compare(a.Start, b.Start) })
		op := change.Op{Verb: change.EditFile, Path: p, Version: version.Of(data).String(), Edits: edits}
		if lang == "Java" && p == f.home && f.container == "" && f.isType() && path.Base(p) == f.name+".java" { // Java requires the file to have the name of its public class
			op.Verb, op.To = change.MovePath, path.Join(c.dir, f.q.New+".java")
		}
		f.out.Ops = append(f.out.Ops, op)
	}
	return nil
}

// documented returns the offset of the name at the start of the comment above a definition, or
// -1.
func (c *code) documented(at int) int {
	doc := -1
	for line := bytes.LastIndexByte(c.text[:at], '\n'); line > 0; {
		start := bytes.LastIndexByte(c.text[:line], '\n') + 1
		text := bytes.TrimLeft(c.text[start:line], " \t")
		name := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("//")), " \t")
		if len(name) == len(text) {
			break
		}
		if doc = -1; slices.Index(wordAt(string(name), c.name), 0) == 0 {
			doc = line - len(name)
		}
		line = start - 1
	}
	return doc
}

// place describes the place at an offset. Offsets must be passed in ascending order.
func (c *code) place(at int, why string) Place {
	c.line += bytes.Count(c.text[c.placed:at], []byte{'\n'})
	c.placed = at
	start := bytes.LastIndexByte(c.text[:at], '\n') + 1
	end := len(c.text)
	if i := bytes.IndexByte(c.text[at:], '\n'); i >= 0 {
		end = at + i
	}
	line := bytes.TrimSpace(c.text[max(start, at-maxShown):min(end, at+maxShown)])
	return Place{Path: c.path, Line: 1 + c.line, Start: at, End: at + len(c.name), Text: string(line), Why: why}
}

const (
	// maxShown limits the bytes of a line shown before and after a name.
	maxShown = 500
	// maxCompared limits the work for one file, in which each place is compared with all
	// definitions. The limit takes a second or two.
	maxCompared = 1 << 30
)

func (c *code) str(i int) string {
	if i < 0 || i >= len(c.Tokens) {
		return ""
	}
	return string(c.text[c.Tokens[i].Start:c.Tokens[i].End])
}

// punct reports whether token i is the punctuation mark s.
func (c *code) punct(i int, s string) bool {
	return i >= 0 && i < len(c.Tokens) && c.Tokens[i].Kind == symbols.Punct && c.str(i) == s
}

func (c *code) word(i int) bool {
	return i >= 0 && i < len(c.Tokens) && c.Tokens[i].Kind == symbols.Word
}

// countWords counts the occurrences of a name in a text, as a whole word.
func countWords(text, name string) int { return len(wordAt(text, name)) }

func wordAt(text, name string) (at []int) {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return at
		}
		i += from
		if (i == 0 || !wordByte(text[i-1])) && (i+len(name) == len(text) || !wordByte(text[i+len(name)])) {
			at = append(at, i)
		}
		from = i + len(name)
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// class is the classification of a place.
type class uint8

const (
	left class = iota
	doubtful
	sure
)

// judge classifies the occurrence at token i.
func (c *code) judge(i int, lang string) (class, string) {
	at := c.Tokens[i].Start
	if v, ok := c.types[spot{c.path, at}]; ok {
		return v.class, v.why
	}
	if lang != c.lang && !related(lang, c.lang) {
		return left, "another language"
	}
	if d := c.byName[at]; d != nil && d.Name == c.name {
		return c.judgeDefinition(d)
	}
	class, why := class(left), ""
	if lang == "Go" {
		class, why = c.judgeUntyped()
	} else {
		class, why = c.judgeAny(i)
	}
	if class == sure && c.qualifier(i) == "" && c.shadows(i, c.q.New) {
		return doubtful, c.q.New + " is declared in this function"
	}
	return class, why
}

// related reports whether code in language a can use names defined in language b.
func related(a, b string) bool {
	for _, set := range []string{"C C++", "JavaScript TypeScript", "Java Kotlin Scala"} {
		if l := strings.Fields(set); slices.Contains(l, a) && slices.Contains(l, b) {
			return true
		}
	}
	return false
}

// outermost returns the outermost function that contains an offset, or nil.
func (c *code) outermost(at int) *symbols.Symbol {
	for k := range c.defs {
		d := &c.defs[k]
		if (d.Kind == symbols.Function || d.Kind == symbols.Method || d.Kind == symbols.Test) && d.Start <= at && at < d.End {
			return d
		}
	}
	return nil
}

// judgeAny classifies by names, containers and imports, for any language.
func (c *code) judgeAny(i int) (class, string) {
	before := c.qualifier(i)
	switch {
	case c.local != nil && (c.path != c.home || c.Tokens[i].Start < c.local.Start || c.Tokens[i].Start >= c.local.End):
		return left, "outside of " + c.container
	case c.member:
		return c.judgeMember(i, before)
	}
	return c.judgeNamed(i, before)
}

// qualifier returns the word before the dot that precedes token i, or "" if there is no
// dot.
func (c *code) qualifier(i int) string {
	k := i - 1
	switch {
	case c.punct(k, ".") || c.punct(k, ">") && c.punct(k-1, "-") || c.punct(k, ":") && c.punct(k-1, ":"):
		if k--; !c.punct(k+1, ".") {
			k--
		}
		if c.punct(k, "?") || c.punct(k, "!") {
			k--
		}
		if c.word(k) {
			return c.str(k)
		}
		return "an expression"
	}
	return ""
}

// declared reports whether the function that contains token i itself declares the name,
// as a variable or parameter.
func (c *code) declared(i int) bool {
	f := c.outermost(c.Tokens[i].Start)
	return f != nil && c.declares(f, c.name)
}

// shadows reports whether the function that contains token i declares the given name.
func (c *code) shadows(i int, name string) bool {
	f := c.outermost(c.Tokens[i].Start)
	return f != nil && c.declares(f, name)
}

// declares reports whether a function declares a name. The answers are cached.
func (c *code) declares(f *symbols.Symbol, name string) bool {
	key := fmt.Sprint(f.NameAt, " ", name)
	declares, known := c.declaring[key]
	if !known {
		if c.declaring == nil {
			c.declaring = map[string]bool{}
		}
		declares = c.hasDeclaration(f, name)
		c.declaring[key] = declares
	}
	return declares
}

func (c *code) hasDeclaration(f *symbols.Symbol, name string) bool {
	from, _ := slices.BinarySearchFunc(c.Tokens, f.Start, func(t symbols.Token, at int) int { return cmp.Compare(t.Start, at) })
	for k := from; k < len(c.Tokens) && c.Tokens[k].Start < f.End; k++ {
		if d := c.byName[c.Tokens[k].Start]; c.Tokens[k].Kind == symbols.Word && c.str(k) == name && c.isDeclaration(k) && (d == nil || d.Container != c.container) {
			return true
		}
	}
	return false
}

var declaring = []string{"let", "const", "var", "val", "mut", "for", "int", "char", "auto", "String", "long", "double", "float", "bool", "boolean", "size_t", "void"}

// isDeclaration reports whether token k declares the name.
func (c *code) isDeclaration(k int) bool {
	switch {
	case c.punct(k-1, "."), c.punct(k+1, ":") && c.punct(k+2, ":"):
		return false
	case c.punct(k+1, ":") && c.punct(k+2, "="), slices.Contains(declaring, c.str(k-1)) && !(c.str(k-1) == "const" && (c.lang == "C" || c.lang == "C++")):
		return true
	case c.Language == "Python":
		return c.punct(k+1, "=") && !c.punct(k+2, "=") || c.str(k-1) == "as" || c.str(k-1) == "lambda" || c.parameter(k)
	}
	if c.parameter(k) {
		return true
	}
	return c.punct(k-1, "(") && c.word(k-2) && c.punct(k+1, ")") && c.punct(k+2, "=") ||
		(c.punct(k-1, "(") || c.punct(k-1, ",")) && c.punct(k+1, ":") || c.word(k-1) && c.Tokens[k-1].End < c.Tokens[k].Start && (c.punct(k+1, "=") || c.punct(k+1, ";") || c.punct(k+1, ",") || c.punct(k+1, ")")) && !keyword(c.str(k-1))
}

// parameter reports whether token k is the name of a parameter, as in function f(a, b) or
// def f(a, *b).
func (c *code) parameter(k int) bool {
	for c.punct(k-1, "*") || c.punct(k-1, ".") {
		k--
	}
	if !c.punct(k-1, "(") && !c.punct(k-1, ",") {
		return false
	}
	o := c.opener(k)
	if o < 1 || !c.punct(o, "(") {
		return false
	}
	before := c.str(o - 1)
	if before != "function" && before != "lambda" && c.word(o-1) {
		before = c.str(o - 2)
	}
	return before == "function" || before == "def" || before == "fn" || before == "fun" || before == "func"
}

func keyword(w string) bool {
	return slices.Contains([]string{"return", "new", "await", "throw", "in", "of", "not", "and", "or", "case", "else", "yield", "typeof", "instanceof", "go", "defer", "raise", "assert", "if", "while", "is", "import", "from", "use", "extends", "throws", "implements", "as", "keyof", "satisfies", "infer", "void", "delete", "default", "is", "super", "export"}, w)
}

// Undecided returns an error if a plan has doubtful places and the query doesn't say how
// to treat them. places limits the places listed; hint tells the caller how to decide.
func (p *Plan) Undecided(q *Query, places int, hint string) error {
	if len(p.Doubtful) == 0 || q.Doubtful || q.Sure {
		return nil
	}
	return fault.New(fault.InvalidArgument, "nothing was changed: "+p.Text(q, places), hint)
}

// Set returns the plan as a set of changes. If files change in the meantime, the plan is
// made again. If the new plan is undecided, the change is refused.
func (p *Plan) Set(from Source, q Query, hint string) change.Set {
	return change.Set{
		Ops: p.Ops, Summary: fmt.Sprintf("renamed %s to %s: %s", q.Old, q.New, fault.Count(len(p.Sure), "sure place", "sure places")),
		Again: func(ctx context.Context) (change.Set, error) {
			again, err := Find(ctx, from, q)
			if err == nil {
				err = again.Undecided(&q, 10, hint)
			}
			if err != nil {
				return change.Set{}, err
			}
			*p = *again
			return p.Set(from, q, hint), nil
		},
	}
}

// Text describes the changes and omissions of a plan. It lists the first doubtful places.
func (p *Plan) Text(q *Query, places int) string {
	text := fmt.Sprintf("%d sure", len(p.Sure))
	if n := len(p.Doubtful); n > 0 {
		text += fmt.Sprintf(", %d doubtful", n)
		if q.Doubtful {
			text += " (renamed)"
		} else {
			text += " (not renamed)"
		}
	}
	if n := len(p.Left); n > 0 {
		text += fmt.Sprintf(", %d of other definitions", n)
	}
	for _, c := range []struct {
		n     int
		where string
	}{{p.Docs, "in doc comments (renamed)"}, {p.Comments, "in comments"}, {p.Strings, "in strings"}, {p.Texts, "in other texts"}} {
		if c.n > 0 {
			text += fmt.Sprintf(", %d %s", c.n, c.where)
			if c.where == "in comments" && q.Comments {
				text += " (renamed)"
			}
		}
	}
	if q.Doubtful {
		places = 0
	}
	for i, d := range p.Doubtful[:min(len(p.Doubtful), places)] {
		text += fmt.Sprintf("\n  %s:%d: %s (%s)", fault.Printable(d.Path), d.Line, fault.Printable(d.Text[:min(len(d.Text), 100)]), d.Why)
		if rest := len(p.Doubtful) - i - 1; i == places-1 && rest > 0 {
			text += fmt.Sprintf("\n  and %d more", rest)
		}
	}
	return text
}
