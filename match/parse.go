package match

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/re/backref"
	"quarry/internal/re/hir"
	"quarry/internal/re/syntax"
	"quarry/internal/re/syntax/ecma"
	"quarry/internal/re/syntax/rust"
)

// parseAll parses the expressions and joins them into one tree.
func (c *Compiler) parseAll(exprs []string, opts Options) (*source, error) {
	src := &source{names: []string{""}}
	fold := foldCase(exprs, opts)
	var alts []*hir.Node
	for _, expr := range exprs {
		if !c.trees.Take(syntax.NodeBytes) {
			return nil, c.trees.Err()
		}
		parsed, err := c.parseOne(expr, fold, opts)
		if err != nil {
			return nil, wrapError(expr, err)
		}
		node := parsed.Root
		if opts.Mode == Lines {
			if node, err = hir.LineMode(node); err != nil {
				return nil, &Error{
					Pattern: expr,
					Offset:  lineFeedOffset(expr),
					Reason:  "the pattern contains a line feed, which no single line can match",
					Hint:    "Search in multiline mode to match across lines.",

					Multiline: true,
				}
			}
		}
		alts = append(alts, shiftGroups(node, len(src.names)-1))
		src.names = append(src.names, parsed.Names[1:]...)
		src.superset = src.superset || parsed.Superset
		if len(exprs) == 1 {
			src.ahead = aheadOf(parsed, opts)
		}
		src.groupsDiffer = src.groupsDiffer || parsed.CapturesDiffer
	}
	src.root = hir.Alt(alts...)
	if opts.WholeLine {
		src.root = hir.WholeLine(src.root, opts.Mode == Multiline && !opts.KeepCR)
	} else if opts.WholeWord {
		src.root = hir.WholeWord(src.root, true)
	}
	if src.superset || src.groupsDiffer {
		engine, err := c.compileBackref(exprs, fold, opts)
		if err != nil {
			return nil, err
		}
		src.exact = engine
	}
	return src, nil
}

// aheadOf returns the contents of the look-aheads that every match needs. In Lines mode they
// must match within the line.
func aheadOf(parsed *syntax.Parsed, opts Options) (list []*hir.Node) {
	for _, n := range parsed.Ahead {
		if opts.Mode == Lines {
			var err error
			if n, err = hir.LineMode(n); err != nil {
				continue
			}
		}
		list = append(list, n)
	}
	return list
}

func (c *Compiler) parseOne(expr string, fold bool, opts Options) (*syntax.Parsed, error) {
	switch opts.Syntax {
	case Rust:
		return rust.Parse(expr, rust.Flags{
			CaseInsensitive:   fold,
			MultiLine:         opts.Mode != Text,
			DotMatchesNewLine: opts.DotAll,
			CRLF:              opts.Mode == Multiline && !opts.KeepCR, // in Lines mode the line ending is not part of the text
			Budget:            c.trees,
		})
	case ECMAScript:
		return ecma.Parse(expr, ecmaFlags(fold, opts), c.trees)
	case Literal:
		return &syntax.Parsed{Root: literalTree(expr, fold), Names: []string{""}}, nil
	case Words:
		words := strings.Fields(expr)
		if len(words) == 0 {
			return nil, errors.New("no word to search for")
		}
		var alts []*hir.Node
		for i, w := range words {
			if !slices.Contains(words[:i], w) {
				alts = append(alts, literalTree(w, true))
			}
		}
		return &syntax.Parsed{Root: hir.Alt(alts...), Names: []string{""}}, nil
	}
	return nil, errors.New("unknown pattern syntax")
}

// Demands reports whether one of the expressions has a part that matches only the byte b: \x00
// demands NUL, [^\x00-\x7F] does not. It ignores invalid expressions.
func Demands(exprs []string, opts Options, b byte) bool {
	fold, c := foldCase(exprs, opts), NewCompiler(context.Background(), opts)
	return slices.ContainsFunc(exprs, func(expr string) bool {
		parsed, err := c.parseOne(expr, fold, opts)
		return err == nil && demands(parsed.Root, b)
	})
}

func demands(n *hir.Node, b byte) bool {
	return slices.Contains(n.Lit, b) || slices.ContainsFunc(n.Subs, func(sub *hir.Node) bool { return demands(sub, b) })
}

func ecmaFlags(fold bool, opts Options) ecma.Flags {
	var f ecma.Flags
	if fold {
		f |= ecma.IgnoreCase
	}
	if opts.Mode == Multiline {
		f |= ecma.Multiline
	}
	if opts.DotAll {
		f |= ecma.DotAll
	}
	if opts.UnicodeSets {
		f |= ecma.UnicodeSets
	} else if opts.Unicode {
		f |= ecma.Unicode
	}
	return f
}

// compileBackref compiles the expressions together for the backtracking engine.
func (c *Compiler) compileBackref(exprs []string, fold bool, opts Options) (*backref.Program, error) {
	trees := make([]*ecma.Tree, len(exprs))
	for i, expr := range exprs {
		tree, err := ecma.ParseTree(expr, ecmaFlags(fold, opts), c.trees)
		if err != nil {
			return nil, wrapError(expr, err)
		}
		trees[i] = tree
	}
	around := ecma.Anything
	if opts.WholeLine && opts.Mode == Multiline && !opts.KeepCR {
		around = ecma.WholeLineCRLF
	} else if opts.WholeLine {
		around = ecma.WholeLine
	} else if opts.WholeWord {
		around = ecma.WholeWord
	}
	return backref.Compile(ecma.Join(trees, around)), nil
}

// literalTree returns the tree that matches text literally, including bytes that aren't UTF-8.
func literalTree(text string, fold bool) *hir.Node {
	if !fold {
		return hir.Literal([]byte(text))
	}
	var subs []*hir.Node
	letters := map[rune]*hir.Node{} // an immutable tree can be shared
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size <= 1:
			subs = append(subs, hir.Literal([]byte(text[:1])))
		case letters[r] != nil:
			subs = append(subs, letters[r])
		default:
			letters[r] = hir.OneOf(hir.NewClass(hir.Range{Lo: r, Hi: r}).Fold())
			subs = append(subs, letters[r])
		}
		text = text[max(size, 1):]
	}
	return hir.Concat(subs...)
}

// shiftGroups adds by to the group numbers of a tree.
func shiftGroups(n *hir.Node, by int) *hir.Node {
	if by == 0 || !n.HasCapture() {
		return n
	}
	c := *n
	if n.Op == hir.OpCapture {
		c.Cap += by
	}
	c.Subs = make([]*hir.Node, len(n.Subs))
	for i, s := range n.Subs {
		c.Subs[i] = shiftGroups(s, by)
	}
	return &c
}

// lineFeedOffset returns the offset of the first line feed of a pattern, literal or escaped.
func lineFeedOffset(expr string) int {
	if i := strings.Index(expr, "\n"); i >= 0 {
		return i
	}
	return max(0, strings.Index(expr, `\n`))
}
