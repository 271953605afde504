package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"quarry"
	"quarry/search"
)

// goLibrary searches for the definitions of 300 exported names in a Go source tree, which Go's
// parser has found. It prints how often the first result is the right one. The names are taken at
// equal distances from the sorted list of names that only one file defines, so only one result is
// right. Definitions in tests and their dependencies are possible wrong results.
func goLibrary(dir string) error {
	places, err := exported(dir)
	if err != nil {
		return err
	}
	var names []string
	for name, at := range places {
		if len(at) == 1 {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) < questionsAsked {
		return fmt.Errorf("%s has only %d exported names, %d are needed", dir, len(names), questionsAsked)
	}
	ws, err := quarry.Open(dir, nil)
	if err != nil {
		return err
	}
	defer ws.Close()
	right, among := 0, 0
	for i := range questionsAsked {
		name := names[i*len(names)/questionsAsked]
		r, err := ws.Symbols(context.Background(), search.SymbolQuery{Name: name})
		if err != nil {
			return err
		}
		at := slices.IndexFunc(r.Symbols, func(s search.Symbol) bool { return s.Path == places[name][0] })
		if at >= 0 {
			among++
		}
		if at == 0 {
			right++
			continue
		}
		first := "nothing"
		if len(r.Symbols) > 0 {
			first = r.Symbols[0].Path
		}
		fmt.Printf("%s: first %s, want %s\n", name, first, places[name][0])
	}
	fmt.Printf("%d of %d definitions first (%.1f %%), %d among the first ten; %d names to draw from\n",
		right, questionsAsked, 100*float64(right)/questionsAsked, among, len(names))
	return nil
}

// exported returns the files that define each exported top-level name: types, functions, methods,
// constants and variables. It excludes tests and test data.
func exported(dir string) (map[string][]string, error) {
	places := map[string][]string{}
	set := token.NewFileSet()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(set, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // the file is invalid on purpose, as a test of the parser
		}
		rel, _ := filepath.Rel(dir, p)
		rel = filepath.ToSlash(rel)
		add := func(name *ast.Ident) {
			if name.IsExported() && !slices.Contains(places[name.Name], rel) {
				places[name.Name] = append(places[name.Name], rel)
			}
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				add(decl.Name)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						add(spec.Name)
					case *ast.ValueSpec:
						for _, n := range spec.Names {
							add(n)
						}
					}
				}
			}
		}
		return nil
	})
	return places, err
}
