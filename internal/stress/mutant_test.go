package stress_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An edit disables a piece of code in a function. It finds the code by the names and literals in it
// instead of by the source text. So the code may be reformatted, extended or moved to another file
// of the package.
type edit struct {
	kind editKind
	// names has to occur in the code, separated by spaces. A name after a minus must not occur. In
	// literals, spaces are written as underscores.
	names string
	text  string // the replacement, in which %s is the replaced source
}

type editKind int

const (
	condition  editKind = iota // condition of an if, for or case, or one side of && or ||
	statement                  // a statement in a block
	expression                 // a call, an arithmetic expression or a literal
	clause                     // a case whose list contains the names
	body                       // insert at the start of the function
)

func never(names string) edit         { return edit{condition, names, "(false && (%s))"} }
func always(names string) edit        { return edit{condition, names, "(true || (%s))"} }
func skip(names string) edit          { return edit{statement, names, "if false {\n%s\n}\n"} }
func replace(names, text string) edit { return edit{statement, names, text} }
func instead(names, text string) edit { return edit{expression, names, text} }
func without(names string) edit       { return edit{clause, names, ""} }
func returns(value string) edit       { return edit{body, "", "\nif true {\nreturn " + value + "\n}\n"} }

// mutate applies edits to the declaration called name, which is a function (Name or Type.Method) or
// a variable. It returns the file and its new text. Each edit must match exactly one place.
func mutate(dir, name string, edits []edit) (file, mutated string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", "", err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return "", "", err
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
		if err != nil {
			return "", "", err
		}
		i := slices.IndexFunc(tree.Decls, func(d ast.Decl) bool { return slices.Contains(namesOf(d), name) })
		if i < 0 {
			continue
		}
		mutated, err := apply(string(source), tree, tree.Decls[i], edits)
		if err == nil {
			_, err = parser.ParseFile(token.NewFileSet(), file, mutated, parser.SkipObjectResolution)
		}
		return file, mutated, err
	}
	return "", "", fmt.Errorf("%s has no declaration of %s", dir, name)
}

func namesOf(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		of := d.Recv.List[0].Type
		if p, ok := of.(*ast.StarExpr); ok {
			of = p.X
		}
		if generic, ok := of.(*ast.IndexExpr); ok {
			of = generic.X
		}
		return []string{of.(*ast.Ident).Name + "." + d.Name.Name}
	case *ast.GenDecl:
		var names []string
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				for _, n := range v.Names {
					names = append(names, n.Name)
				}
			}
		}
		return names
	}
	return nil
}

type place struct{ start, end int }

func apply(source string, tree *ast.File, in ast.Decl, edits []edit) (string, error) {
	type change struct {
		place
		text string
	}
	var changes []change
	for _, e := range edits {
		var found []place
		for _, n := range places(in, e.kind) {
			if mentions(n, e.kind, strings.Fields(e.names)) {
				found = append(found, place{int(n.Pos() - tree.FileStart), int(n.End() - tree.FileStart)})
			}
		}
		found = innermost(found)
		if len(found) != 1 {
			return "", fmt.Errorf("%d places mention %q, want one: the mechanism moved, so move the mutation", len(found), e.names)
		}
		at := found[0]
		if e.kind == body {
			at = place{at.start + 1, at.start + 1}
		}
		text := strings.ReplaceAll(e.text, "%s", source[at.start:at.end])
		changes = append(changes, change{at, text})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(b.start, a.start) })
	for _, c := range changes {
		source = source[:c.start] + c.text + source[c.end:]
	}
	return source, nil
}

// places returns the nodes of a kind in a declaration.
func places(in ast.Decl, kind editKind) (list []ast.Node) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if kind == condition {
				list = append(list, n.Cond)
			}
		case *ast.ForStmt:
			if kind == condition && n.Cond != nil {
				list = append(list, n.Cond)
			}
		case *ast.SwitchStmt:
			if kind == condition && n.Tag == nil {
				for _, c := range n.Body.List {
					for _, x := range c.(*ast.CaseClause).List {
						list = append(list, x)
					}
				}
			}
		case *ast.BinaryExpr:
			logical := n.Op == token.LAND || n.Op == token.LOR
			if kind == condition && logical {
				list = append(list, n, n.X, n.Y)
			}
			if kind == expression && !logical {
				list = append(list, n)
			}
		case *ast.CallExpr, *ast.BasicLit:
			if kind == expression {
				list = append(list, n)
			}
		case *ast.BlockStmt:
			if kind == statement {
				for _, s := range n.List {
					list = append(list, s)
				}
			}
		case *ast.CaseClause:
			if kind == clause {
				list = append(list, n)
			}
			if kind == statement {
				for _, s := range n.Body {
					list = append(list, s)
				}
			}
		case *ast.FuncDecl:
			if kind == body {
				list = append(list, n.Body)
			}
		}
		return true
	})
	return list
}

// mentions reports whether a node contains all names as identifiers or literals. For a clause, only
// its list is examined.
func mentions(n ast.Node, kind editKind, names []string) bool {
	had := map[string]bool{}
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			had[n.Name] = true
		case *ast.BasicLit:
			had[strings.ReplaceAll(n.Value, " ", "_")] = true
		}
		return true
	}
	if c, ok := n.(*ast.CaseClause); ok && kind == clause {
		for _, x := range c.List {
			ast.Inspect(x, look)
		}
	} else {
		ast.Inspect(n, look)
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		name, excluded := strings.CutPrefix(name, "-")
		return had[name] == excluded
	})
}

// innermost removes the places that contain another place.
func innermost(list []place) []place {
	slices.SortFunc(list, func(a, b place) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	list = slices.Compact(list)
	holds := func(a place) bool {
		return slices.ContainsFunc(list, func(b place) bool { return b != a && a.start <= b.start && b.end <= a.end })
	}
	var kept []place
	for _, a := range list {
		if !holds(a) {
			kept = append(kept, a)
		}
	}
	return kept
}
