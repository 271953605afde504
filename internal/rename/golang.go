package rename

import (
	"bytes"
	"context"
	"fmt"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strings"

	"quarry/fault"
	"quarry/internal/symbols"
	"quarry/search"
)

// module finds the path of the Go module of the definition, so that imports of its package
// are recognized.
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

// allowed returns an error if the new name is invalid in Go, is a keyword, or already
// exists in the package or the type.
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
		if s.Name == f.q.New && symbols.Language(s.Path, nil) == "Go" && group(&s) == group(&f.targets[0]) {
			return fault.New(fault.InvalidArgument, fmt.Sprintf("%s is defined already: %s:%d", qualified(&s), fault.Printable(s.Path), s.Line), "choose another name")
		}
	}
	return nil
}

// importPath returns the import path of the definition's package; "" if unknown.
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

// judgeUntyped classifies a name in a Go file without type information, because the file
// belongs to another module or can't be type-checked.
func (c *code) judgeUntyped() (class, string) {
	own := c.importPath()
	switch {
	case c.dir != c.at && !c.exported():
		return left, "of another package"
	case c.dir != c.at && c.container == "" && !c.isType() && own != "" && !bytes.Contains(c.text, []byte(`"`+own+`"`)):
		return left, "of another package"
	}
	return doubtful, "its types are not known"
}

var externalTest = regexp.MustCompile(`(?m)^package \w+_test\b`)

// inExternalTest reports whether the file belongs to the external test package of the
// definition's package.
func (c *code) inExternalTest() bool {
	return strings.HasSuffix(c.path, "_test.go") && !strings.HasSuffix(c.targets[0].Path, "_test.go") && externalTest.Match(c.text)
}

func (f *finder) exported() bool { return token.IsExported(f.name) }

func (f *finder) isType() bool { return isType(f.kind) }

// opener returns the index of the innermost bracket that is open at token k, or -1.
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
