package rename

import (
	"context"
	"slices"
	"strings"

	"quarry/internal/symbols"
	"quarry/search"
)

// last returns the last element of a dotted name.
func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func isType(kind string) bool {
	return slices.Contains([]string{"class", "struct", "interface", "enum", "type"}, kind)
}

// constructs reports whether a definition is a constructor or destructor of the class
// that contains it. In most languages a method can have the name of its type.
func constructs(lang, name, container, kind string) bool {
	return !isType(kind) && last(container) == strings.TrimPrefix(name, "~") && slices.Contains([]string{"C++", "C", "Java", "C#", "PHP"}, lang)
}

// judgeDefinition classifies another definition of the name.
func (c *code) judgeDefinition(d *symbols.Symbol) (class, string) {
	compiled := c.lang == "C" || c.lang == "C++"
	switch {
	case constructs(c.lang, d.Name, d.Container, d.Kind.String()):
		if c.isType() && d.Container == c.whole() && (compiled || c.path == c.home) {
			return sure, ""
		}
		return left, "constructs another"
	case slices.ContainsFunc(c.targets, func(s search.Symbol) bool { return s.Path == c.path && s.Line == d.Line && s.Container == d.Container }):
		if why := c.inherited(d); why != "" {
			return doubtful, why
		}
		return sure, ""
	case compiled && d.Container == c.container:
		return doubtful, "may declare the same"
	case !c.member || d.Container == "" || isType(d.Kind.String()) != c.isType():
		return left, "defines another"
	case c.bare && nominal(c.lang) && c.typeAt(d.NameAt) != nil && len(c.bases(c.typeAt(d.NameAt))) == 0:
		return left, "defines another"
	}
	return doubtful, "may override it, or be overridden"
}

// nominal reports whether, in a language, a class can only be used in place of another if
// it names it as a base.
func nominal(lang string) bool {
	return slices.Contains([]string{"Java", "Kotlin", "Scala", "C#", "C++", "Swift"}, lang)
}

// inherited returns why a definition may not be renamed on its own, or "".
func (c *code) inherited(d *symbols.Symbol) string {
	switch {
	case c.lang == "Python" && c.container == "" && c.listed():
		return "__all__ names it"
	case c.keyed:
		return "a key of an object"
	case !c.member || c.isType() || c.bare || !d.Kind.IsCallable() && c.lang != "Python":
		return ""
	}
	for k := range c.Tokens {
		if at := c.Tokens[k].Start; at >= d.NameAt {
			break
		} else if w := c.str(k); at >= d.Start && (w == "private" || w == "static") {
			return ""
		}
	}
	return "a type that " + last(c.container) + " derives from may have it"
}

// listed reports whether __all__ contains the name.
func (c *code) listed() bool {
	for k := range c.Tokens {
		if c.str(k) != "__all__" {
			continue
		}
		for k++; k < len(c.Tokens) && !c.Tokens[k].First || c.Tokens[k].Kind == symbols.Text; k++ {
			if c.Tokens[k].Kind == symbols.Text && strings.Trim(c.str(k), `"'`) == c.name {
				return true
			}
		}
	}
	return false
}

// typeAt returns the innermost type that contains an offset, or nil.
func (c *code) typeAt(at int) (found *symbols.Symbol) {
	for k := range c.defs {
		if d := &c.defs[k]; (d.Kind.IsType() || d.Kind == symbols.Impl) && d.Start <= at && at < d.End && d.NameAt != at && (found == nil || d.Start >= found.Start) {
			found = d
		}
	}
	return found
}

// bases returns the base types in the header of a type.
func (c *code) bases(d *symbols.Symbol) (names []string) {
	k, _ := slices.BinarySearchFunc(c.Tokens, d.NameAt+1, func(t symbols.Token, at int) int { return t.Start - at })
	after := c.lang == "Python"
	for angle := 0; k < len(c.Tokens) && c.Tokens[k].Start < d.End; k++ {
		switch w := c.str(k); {
		case w == "{", w == ";", c.lang == "Python" && w == ":":
			return names
		case w == "<":
			angle++
		case w == ">":
			angle--
		case angle > 0 || slices.Contains([]string{"object", "public", "virtual", "private", "protected"}, w):
		case w == ":", w == "extends", w == "implements":
			after = true
		case after && c.word(k) && !c.punct(k+1, ".") && !c.punct(k+1, "="):
			names = append(names, w)
		}
	}
	return names
}

// basesLack reports whether no base type of t, direct or indirect, has a member of the
// name. It returns false if some base types are unknown.
func (c *code) basesLack(ctx context.Context, from Source, t *symbols.Symbol, seen map[string]bool) bool {
	for _, base := range c.bases(t) {
		if seen[base] {
			continue
		}
		seen[base] = true
		r, err := from.Symbols(ctx, search.SymbolQuery{Name: base, Limit: 100})
		if err != nil {
			return false
		}
		types := slices.DeleteFunc(r.Symbols, func(s search.Symbol) bool { return s.Name != base || !isType(s.Kind) })
		if len(types) != 1 || slices.ContainsFunc(c.same, func(s search.Symbol) bool { return s.Container == qualified(&types[0]) }) {
			return false
		}
		in, _, err := c.take(ctx, from, types[0].Path)
		if err != nil || in == nil {
			return false
		}
		i := slices.IndexFunc(in.defs, func(d symbols.Symbol) bool { return d.Name == base && d.Line == types[0].Line })
		if i < 0 || !in.basesLack(ctx, from, &in.defs[i], seen) {
			return false
		}
	}
	return true
}

// judgeMember classifies the name if it is the name of a member.
func (c *code) judgeMember(i int, before string) (class, string) {
	own := last(c.container)
	call := c.punct(i+1, "(")
	switch {
	case c.lang == "Java" && c.kind == "method" && !call && !(c.punct(i-1, ":") && c.punct(i-2, ":")):
		if c.importStatement(i) {
			return doubtful, "imported"
		}
		return left, "no method"
	case c.lang == "Java" && (c.kind == "field" || c.kind == "member") && call:
		return left, "a method"
	case before == own && !c.rivals:
		return sure, ""
	case before == "this" || before == "self" || before == "cls" || before == "Self":
		if c.ownMember(i) && !c.within(i, "function") {
			return sure, ""
		}
		return doubtful, "a member of " + before
	case before != "":
		return doubtful, "a member of " + before
	case !implicit(c.lang):
		return c.judgeKey(i)
	case !c.ownMember(i):
		return doubtful, "outside of " + own
	case c.within(i, "new"):
		return doubtful, "in a class without a name"
	case !(c.lang == "Java" && call) && c.declared(i):
		if c.parameterOf(i) {
			return left, "a parameter"
		}
		return doubtful, "declared in this function too"
	}
	return sure, ""
}

// implicit reports whether methods of a language can name members without this or self.
func implicit(lang string) bool {
	return !slices.Contains([]string{"Python", "JavaScript", "TypeScript", "Rust", "PHP", "Lua", "Perl"}, lang)
}

// judgeKey classifies a name without a dot in a language where access to members requires
// one.
func (c *code) judgeKey(i int) (class, string) {
	switch open := c.opener(i); {
	case c.Language == "Python" && c.ownMember(i) && c.outermost(c.Tokens[i].Start) == nil:
		return sure, ""
	case c.Language == "Python" && !(c.punct(i+1, "=") && (c.punct(i-1, "(") || c.punct(i-1, ","))):
		return left, "no member"
	case c.Language != "Python" && !c.punct(i+1, ":") && !c.punct(i+1, "?") && !(open >= 0 && c.punct(open, "{") && (c.punct(i-1, "{") || c.punct(i-1, ",") || c.Tokens[i].First)):
		return left, "no member"
	}
	return doubtful, "may be a key"
}

// ownMember reports whether the innermost type that contains token i is the definition's
// container.
func (c *code) ownMember(i int) bool {
	d := c.typeAt(c.Tokens[i].Start)
	if in := c.outermost(c.Tokens[i].Start); d == nil && in != nil && c.lang == "C++" {
		return in.Container == c.container
	}
	whole := ""
	if d != nil {
		whole = d.Name
		if d.Container != "" {
			whole = d.Container + "." + d.Name
		}
	}
	return d != nil && whole == c.container && (c.path == c.home || c.lang == "C++")
}

// within reports whether, inside the innermost type, token i is in a body that opens after
// word: new T() {, or function() {.
func (c *code) within(i int, word string) bool {
	d := c.typeAt(c.Tokens[i].Start)
	for o := c.opener(i); o >= 0 && (d == nil || c.Tokens[o].Start > d.NameAt); o = c.opener(o) {
		if !c.punct(o, "{") || !c.punct(o-1, ")") {
			continue
		}
		for k := c.Tokens[o-1].Partner - 1; k >= 0 && k > o-200; k-- {
			if c.str(k) == word {
				return true
			}
			if !c.word(k) && !c.punct(k, ".") && !c.punct(k, "<") && !c.punct(k, ">") && !c.punct(k, ",") {
				break
			}
		}
	}
	return false
}

// parameterOf reports whether the outermost function that contains token i has a parameter
// of the renamed name.
func (c *code) parameterOf(i int) bool {
	f := c.outermost(c.Tokens[i].Start)
	k, _ := slices.BinarySearchFunc(c.Tokens, f.NameAt, func(t symbols.Token, at int) int { return t.Start - at })
	for ; k < len(c.Tokens) && !c.punct(k, "{"); k++ {
		if c.str(k) == c.name && c.word(k-1) && (c.punct(k+1, ",") || c.punct(k+1, ")")) {
			return true
		}
	}
	return false
}

// importStatement reports whether token i is in a line that imports something.
func (c *code) importStatement(i int) bool {
	for ; i > 0 && !c.Tokens[i].First; i-- {
	}
	return c.str(i) == "import"
}

// judgeNamed classifies the name if the definition belongs to a file or namespace.
func (c *code) judgeNamed(i int, before string) (class, string) {
	o := c.imports()
	if v, ok := o.at[i]; ok {
		return v.class, v.why
	}
	if before != "" {
		k := i - 1
		for c.word(k-1) && c.punct(k-2, ".") {
			k -= 2
		}
		chain := ""
		if c.punct(i-1, ".") && c.word(k-1) {
			chain, _ = c.dotted(k - 1)
			chain = strings.TrimSuffix(strings.TrimSuffix(chain, c.name), ".")
		}
		first, _, _ := strings.Cut(chain, ".")
		_, imported := o.modules[first]
		switch v, ok := o.modules[chain]; {
		case ok && chain != "":
			return v.class, v.why
		case !imported && chain != "" && first != "exports" && first != "module" && slices.Contains([]string{"Python", "JavaScript", "TypeScript"}, c.Language):
			return left, "a member of " + before
		case c.container != "" && before == last(c.container) && !c.rivals:
			return sure, ""
		}
		return doubtful, "a member of " + before
	}
	script := c.Language == "JavaScript" || c.Language == "TypeScript"
	open := c.opener(i)
	switch {
	case script && c.punct(i+1, ":") && (c.punct(i-1, "{") || c.punct(i-1, ",") || c.punct(i-1, ";")), c.Language == "Python" && c.punct(i+1, "=") && !c.punct(i+2, "=") && open >= 0 && c.punct(open, "("):
		return left, "a key"
	case script && open >= 0 && c.punct(open, "{") && (c.punct(i-1, "{") || c.punct(i-1, ",")) && (c.punct(i+1, ",") || c.punct(i+1, "}")) && c.str(open-1) != "export":
		return doubtful, "a key too"
	case c.declared(i):
		return doubtful, "declared in this function too"
	case !c.isType() && implicit(c.Language) && c.typeAt(c.Tokens[i].Start) != nil && slices.ContainsFunc(c.same, func(s search.Symbol) bool { return s.Container != c.container }):
		return doubtful, "a member may have the name"
	case slices.ContainsFunc(c.targets, func(s search.Symbol) bool { return s.Path == c.path }):
		return sure, ""
	}
	return o.rest.class, o.rest.why
}
