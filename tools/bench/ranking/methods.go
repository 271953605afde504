package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry"
	"quarry/internal/symbols"
	"quarry/search"
)

// methodsAsked is the number of methods searched in each tree.
const methodsAsked = 100

// methods searches each tree for methods as Type.method. It uses methods whose name exists in other
// types too. It prints how often the method of the right type is first, and fails if it isn't
// always.
func methods(trees []string) error {
	wrong := 0
	for _, tree := range trees {
		n, err := methodsOf(tree)
		if err != nil {
			return err
		}
		wrong += n
	}
	if wrong > 0 {
		return fmt.Errorf("%d methods of another type are first", wrong)
	}
	return nil
}

func methodsOf(tree string) (wrong int, err error) {
	types := map[string][]string{} // types that have a method, by its name
	err = filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || len(p) > len(tree)+1 && strings.Contains(p[len(tree):], "/.") {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil || len(text) > 1<<20 {
			return err
		}
		for _, s := range symbols.Of(p, text) {
			if s.Kind == symbols.Method && s.Container != "" && !strings.ContainsAny(s.Container+s.Name, " .:<>&*") && !slices.Contains(types[s.Name], s.Container) {
				types[s.Name] = append(types[s.Name], s.Container)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	var asked [][2]string
	for name, list := range types {
		if len(list) > 1 {
			for _, t := range list {
				asked = append(asked, [2]string{t, name})
			}
		}
	}
	slices.SortFunc(asked, func(a, b [2]string) int { return strings.Compare(a[0]+"."+a[1], b[0]+"."+b[1]) })
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
	if len(asked) < methodsAsked {
		return 0, fmt.Errorf("%s has only %d methods whose name others have, %d are needed", tree, len(asked), methodsAsked)
	}
	dir, err := os.MkdirTemp("", "methods")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	ws, err := quarry.Open(tree, &quarry.Options{Index: &quarry.IndexOptions{Dir: dir}})
	if err != nil {
		return 0, err
	}
	defer ws.Close()
	ctx := context.Background()
	if err := ws.Index().Wait(ctx); err != nil {
		return 0, err
	}
	empty := 0
	for _, m := range asked[:methodsAsked] {
		r, err := ws.Symbols(ctx, search.SymbolQuery{Name: m[0] + "." + m[1]})
		if err != nil {
			return 0, err
		}
		if len(r.Symbols) == 0 {
			empty++
			fmt.Printf("%s: %s.%s has no answer\n", tree, m[0], m[1])
			continue
		}
		if s := r.Symbols[0]; s.Name != m[1] || s.Container != m[0] && !strings.HasSuffix(s.Container, "."+m[0]) && !strings.HasSuffix(s.Container, "::"+m[0]) {
			wrong++
			fmt.Printf("%s: %s.%s gives %s.%s\n", tree, m[0], m[1], s.Container, s.Name)
		}
	}
	fmt.Printf("%s: %d of %d methods asked for (of %d) have an answer, %d first\n", tree, methodsAsked-empty, methodsAsked, len(asked), methodsAsked-empty-wrong)
	if empty == methodsAsked {
		return 0, errors.New("nothing has an answer")
	}
	return wrong + empty, nil
}
