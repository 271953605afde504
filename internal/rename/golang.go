package rename

import (
	"cmp"
	"context"
	"fmt"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/symbols"
	"quarry/search"
)

// module finds the path of the Go module that the definition is in, so that imports
// can be told to be of its package.
func (f *finder) module(ctx context.Context, from Source) error {
	if f.lang != "Go" {
		return nil
	}
	for dir := f.at; ; dir = path.Dir(dir) {
		data, err := from.ReadBytes(ctx, path.Join(dir, "go.mod"), 1<<20)
		if err == nil {
			for line := range strings.Lines(string(data)) {
				if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
					f.mod, f.modDir = strings.Trim(strings.TrimSpace(rest), `"`), dir
				}
			}
			return nil
		}
		if dir == "." || dir == "/" || dir == "" {
			return nil
		}
	}
}

// allowed refuses a new name that Go can't have: one of its words, or one that the
// package or the type has already.
func (f *finder) allowed(ctx context.Context, from Source) error {
	if f.lang != "Go" {
		return nil
	}
	switch {
	case token.IsKeyword(f.q.New):
		return fault.New(fault.InvalidArgument, fmt.Sprintf("the new name %q is a word of Go", f.q.New), "")
	case !token.IsIdentifier(f.q.New) || f.q.New == "_":
		return fault.New(fault.InvalidArgument, fmt.Sprintf("invalid name %q: Go can't have it", f.q.New), "")
	case f.container == "" && (f.q.New == "init" || f.name == "init" || f.name == "main" && f.kind == "function"):
		return fault.New(fault.InvalidArgument, fmt.Sprintf("%s can't become %s: Go calls init and main by their names", f.name, f.q.New), "")
	case f.mod == "" && f.container == "" && types.Universe.Lookup(f.q.New) != nil:
		return fault.New(fault.InvalidArgument, fmt.Sprintf("the new name %s is built into Go, and the folder has no go.mod that tells where it is used", f.q.New), "choose another name")
	}
	r, err := from.Symbols(ctx, search.SymbolQuery{Name: f.q.New, Limit: 5000})
	if err != nil {
		return err
	}
	for _, s := range r.Symbols {
		if s.Name == f.q.New && symbols.Language(s.Path, nil) == "Go" && group(&s) == group(&f.meant[0]) {
			return fault.New(fault.InvalidArgument, fmt.Sprintf("%s is defined already: %s:%d", qualified(&s), fault.Printable(s.Path), s.Line), "choose another name")
		}
	}
	return nil
}

// importPath is what the package of the definition is imported as; "" if that is not
// known.
func (f *finder) importPath() string {
	if f.mod == "" {
		return ""
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(f.at, f.modDir), "/")
	if f.modDir == "." && f.at != "." {
		rel = f.at
	}
	if rel == "" || rel == "." {
		return f.mod
	}
	return f.mod + "/" + rel
}

// readImports reads the package's name and the imports of a Go file.
func (c *code) readImports() {
	c.imports = map[string]string{}
	own := c.importPath()
	for i := 0; i < len(c.Tokens); i++ {
		switch {
		case c.str(i) == "package" && c.pkg == "":
			c.pkg = c.str(i + 1)
		case c.str(i) == "import" && c.Tokens[i].First:
			end := i + 1
			if c.punct(end, "(") {
				end = c.Tokens[end].Partner
			}
			for k := i + 1; k <= end && k < len(c.Tokens); k++ {
				if c.Tokens[k].Kind != symbols.Text {
					if k == end && c.word(k) {
						end++ // import a "b"
					}
					continue
				}
				p := strings.Trim(c.str(k), "\"`")
				name := path.Base(p)
				if strings.HasPrefix(name, "v") && strings.Trim(name[1:], "0123456789") == "" {
					name = path.Base(path.Dir(p))
				}
				if c.word(k-1) && c.str(k-1) != "import" || c.punct(k-1, ".") {
					name = c.str(k - 1)
				}
				dir := ""
				if p == own {
					dir = c.at
				}
				c.imports[name] = dir
			}
			i = max(i, end)
		case c.str(i) == "func" && c.Tokens[i].First:
			return
		}
	}
}

// judgeGo decides about the name at token i of a Go file of which no types are known.
func (c *code) judgeGo(i int) (class, string) {
	before := c.qualifier(i)
	if c.container == "" {
		return c.judgePackageLevel(i, before)
	}
	return c.judgeMember(i, before)
}

func (f *finder) exported() bool { return token.IsExported(f.name) }

// samePackage reports that the file is in the package of the definition.
func (c *code) samePackage() bool {
	if c.dir != c.at {
		return false
	}
	ours := strings.HasSuffix(c.meant[0].Path, "_test.go") && c.pkg != ""
	return ours || !strings.HasSuffix(c.pkg, "_test") || !strings.HasSuffix(c.path, "_test.go")
}

// judgePackageLevel decides for a function, type, constant or variable of a package.
func (c *code) judgePackageLevel(i int, before string) (class, string) {
	if before != "" {
		dir, imported := c.imports[before]
		direct := imported && !c.punct(i-3, ".") && c.word(i-2)
		switch {
		case direct && dir == c.at && c.shadows(i, before):
			return doubtful, before + " is declared in this function too"
		case direct && dir == c.at:
			return sure, ""
		case imported && !c.shadows(i, before):
			return left, "of package " + before
		case c.isType() && (c.dir == c.at || c.exported()):
			return doubtful, "may be an embedded field"
		}
		return left, "a member"
	}
	switch _, dotted := c.imports["."]; {
	case !c.samePackage():
		if dotted {
			return doubtful, "the file has an import without a name"
		}
		return left, "of another package"
	case c.goDeclaration(i):
		return left, "a local name"
	case c.isKey(i):
		if !c.exported() && !c.memberNamed() {
			return sure, ""
		}
		return doubtful, "may be the key of a field"
	case c.inStruct(i) && !c.isType():
		return left, "a field"
	case c.declared(i):
		return doubtful, "declared in this function too"
	}
	return sure, ""
}

// isType reports that the definition is a type.
func (f *finder) isType() bool {
	switch f.kind {
	case "struct", "interface", "type", "class", "enum":
		return true
	}
	return false
}

// memberNamed reports that a type of the package has a member of the name.
func (c *code) memberNamed() bool {
	return slices.ContainsFunc(c.same, func(s search.Symbol) bool { return s.Container != "" && path.Dir(s.Path) == c.at })
}

// shadows reports that the function around token i declares the name of a package.
func (c *code) shadows(i int, name string) bool {
	f := c.outermost(c.Tokens[i].Start)
	return f != nil && c.declares(f, name)
}

// isKey reports that the name at i is the key of a composite literal.
func (c *code) isKey(i int) bool {
	return c.punct(i+1, ":") && !c.punct(i+2, "=") && (c.punct(i-1, "{") || c.punct(i-1, ",")) && c.str(i-1) != "case"
}

// inStruct reports that the name at i names a field of a struct or a method of an
// interface, with a name of its own or without: struct{ a, b int }, interface{ a() }.
func (c *code) inStruct(i int) bool {
	first := i
	for c.punct(first-1, ",") && c.word(first-2) {
		first -= 2
	}
	if begins := c.Tokens[first].First || c.punct(first-1, "{") || c.punct(first-1, ";"); !begins {
		return false
	}
	named := c.word(i+1) || c.punct(i+1, "*") || c.punct(i+1, "[") || c.punct(i+1, "(") || c.punct(i+1, ",")
	if !named || c.Tokens[i+1].First {
		return false
	}
	o := c.opener(first)
	return o > 0 && c.punct(o, "{") && (c.str(o-1) == "struct" || c.str(o-1) == "interface")
}

// judgeMember decides for a method or a field.
func (c *code) judgeMember(i int, before string) (class, string) {
	if !c.exported() && c.dir != c.at {
		return left, "of another package"
	}
	others := slices.ContainsFunc(c.same, func(s search.Symbol) bool {
		return s.Container != "" && s.Container != c.container && (c.exported() || path.Dir(s.Path) == c.at) && symbols.Language(s.Path, nil) == "Go"
	})
	alone := !c.exported() && !others
	if before == "" {
		switch {
		case !c.isKey(i):
			return left, "no member"
		case alone && !c.packageNamed(), c.literalOf(i):
			return sure, ""
		}
		return doubtful, "may be the key of another type"
	}
	if _, imported := c.imports[before]; imported && c.word(i-2) && !c.punct(i-3, ".") && !c.shadows(i, before) {
		return left, "of package " + before
	}
	if alone {
		return sure, ""
	}
	switch c.typeOf(i, before) {
	case c.container:
		return sure, ""
	case "":
		return doubtful, "the type of " + before + " is not evident"
	}
	return doubtful, before + " looks like another type"
}

// packageNamed reports that the package defines the name at its top as well.
func (c *code) packageNamed() bool {
	return slices.ContainsFunc(c.same, func(s search.Symbol) bool { return s.Container == "" && path.Dir(s.Path) == c.at })
}

// literalOf reports that the key at i is in a literal of the container.
func (c *code) literalOf(i int) bool {
	depth := 0
	for k := i - 1; k >= 0 && k > i-2000; k-- {
		switch {
		case c.punct(k, "}") || c.punct(k, ")") || c.punct(k, "]"):
			depth++
		case c.punct(k, "{") || c.punct(k, "(") || c.punct(k, "["):
			if depth--; depth < 0 {
				return c.punct(k, "{") && c.isContainer(k-1)
			}
		}
	}
	return false
}

// isContainer reports that token k names the container, as seen from this file.
func (c *code) isContainer(k int) bool {
	if c.str(k) != c.container {
		return false
	}
	if !c.punct(k-1, ".") {
		return c.samePackage()
	}
	dir, ok := c.imports[c.str(k-2)]
	return ok && dir == c.at
}

// typeOf is the container if the word before the dot is declared with it in the
// function around token i, or is its receiver; another name if it is declared with
// another; "" if that is not evident.
func (c *code) typeOf(i int, before string) string {
	if !c.word(i-2) || c.punct(i-3, ".") {
		return ""
	}
	f := c.outermost(c.Tokens[i].Start)
	if f == nil {
		return ""
	}
	from, _ := slices.BinarySearchFunc(c.Tokens, f.Start, func(t symbols.Token, at int) int { return cmp.Compare(t.Start, at) })
	found := ""
	for k := from; k < len(c.Tokens) && c.Tokens[k].Start < f.End; k++ {
		if c.Tokens[k].Kind != symbols.Word || c.str(k) != before || c.punct(k-1, ".") || !c.goDeclaration(k) {
			continue
		}
		t := c.declaredType(k)
		if t == "" || found != "" && found != t {
			return ""
		}
		found = t
	}
	return found
}

// declaredType is the type with which the name at k is declared, if it is written
// there: x T, x *T, x := T{, x := &T{, var x T. The container must be that of the
// definition's package.
func (c *code) declaredType(k int) string {
	at := k + 1
	if c.punct(at, ":") && c.punct(at+1, "=") {
		if at += 2; c.punct(at, "&") {
			at++
		}
		end := at
		for c.punct(end+1, ".") && c.word(end+2) {
			end += 2
		}
		if !c.word(end) || !c.punct(end+1, "{") {
			return ""
		}
		at = end
	} else {
		for c.punct(at, "*") {
			at++
		}
		for c.word(at) && c.punct(at+1, ".") && c.word(at+2) {
			at += 2
		}
	}
	switch {
	case c.isContainer(at):
		return c.container
	case c.word(at):
		return "other " + c.str(at)
	}
	return ""
}

// goDeclaration reports that the name at token k is declared there, in a function.
func (c *code) goDeclaration(k int) bool {
	if c.punct(k-1, ".") {
		return false
	}
	// a, b := …
	for e := k; e < k+20; e += 2 {
		if c.punct(e+1, ":") && c.punct(e+2, "=") {
			return true
		}
		if !c.punct(e+1, ",") || !c.word(e+2) {
			break
		}
	}
	if prev := c.str(k - 1); prev == "var" || prev == "const" {
		return c.outermost(c.Tokens[k].Start) != nil
	}
	// A parameter, result or receiver: (a, b T.
	if !(c.punct(k-1, "(") || c.punct(k-1, ",")) {
		return false
	}
	e := k
	for c.punct(e+1, ",") && c.word(e+2) && e < k+40 {
		e += 2
	}
	typed := c.word(e+1) || c.punct(e+1, "*") || c.punct(e+1, "[") && c.Tokens[e+1].Start > c.Tokens[e].End || c.punct(e+1, ".") && c.punct(e+2, ".") || c.punct(e+1, "<")
	if !typed || c.Tokens[e+1].First || c.punct(e+1, "*") && c.Tokens[e+2].Start > c.Tokens[e+1].End {
		return false
	}
	o := c.opener(k)
	return o >= 0 && c.punct(o, "(") && (c.str(o-1) == "func" || c.word(o-1) && (c.str(o-2) == "func" || c.punct(o-2, ")")) || c.punct(o-1, ")"))
}

// opener is the bracket around token k, or -1.
func (c *code) opener(k int) int {
	if c.openers == nil {
		c.openers = make([]int32, len(c.Tokens))
		var open []int32
		for i := range c.Tokens {
			if closes := c.punct(i, "}") || c.punct(i, ")") || c.punct(i, "]"); closes && len(open) > 0 {
				open = open[:len(open)-1]
			}
			c.openers[i] = -1
			if len(open) > 0 {
				c.openers[i] = open[len(open)-1]
			}
			if c.punct(i, "{") || c.punct(i, "(") || c.punct(i, "[") {
				open = append(open, int32(i))
			}
		}
	}
	return int(c.openers[k])
}
