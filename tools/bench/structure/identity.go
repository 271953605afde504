package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/structure"
	"quarry/internal/symbols"
)

// identity replaces the matches of each pattern by the pattern itself. This must not change the
// tokens and comments of a file, except for a comma before a closing bracket. If the text has CRLF
// line endings, so must the result.
func identity(trees, only, find string, show int, planted bool) error {
	made, differ, endings := 0, 0, 0
	for _, l := range languages {
		if only != "" && l.name != only {
			continue
		}
		dirs, err := treesOf(trees, l.name)
		if err != nil {
			return err
		}
		one := same{show: show, planted: planted}
		for _, dir := range dirs {
			err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() || !slices.ContainsFunc(l.globs, func(g string) bool { ok, _ := filepath.Match(g, e.Name()); return ok }) {
					return err
				}
				text, err := os.ReadFile(path)
				if err != nil || bytes.ContainsRune(text, '\r') {
					return err
				}
				for _, p := range l.patterns {
					if find == "" || p == find {
						if err := one.file(path, text, p); err != nil {
							return fmt.Errorf("%s: %s: %w", path, p, err)
						}
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		fmt.Printf("%-7s %d trees: %d files of a pattern with a match, %d places, %d refused; %d differ in a token or a comment, %d with CRLF\n", l.name, len(dirs), one.made, one.places, one.refused, one.differ, one.endings)
		made, differ, endings = made+one.made, differ+one.differ, endings+one.endings
	}
	if made == 0 || differ+endings > 0 {
		return errors.New("a replacement by itself changed something, or nothing was replaced")
	}
	return nil
}

type same struct {
	made, places, refused, differ, endings int
	show                                   int
	planted                                bool
}

// file compares a file before and after the replacement.
func (s *same) file(path string, text []byte, pattern string) error {
	after, n, refused, err := rewriteText(path, text, pattern, pattern)
	if err != nil || n == 0 {
		return err
	}
	s.made, s.places, s.refused = s.made+1, s.places+n, s.refused+refused
	if s.planted && s.made%7 == 0 {
		after = bytes.Replace(after, []byte(")"), []byte("))"), 1)
	}
	if a, b := pieces(path, text), pieces(path, after); !slices.Equal(a, b) {
		s.differ++
		k := 0
		for k < len(a) && k < len(b) && a[k] == b[k] {
			k++
		}
		s.tell("%s: %s: %q became %q", path, pattern, strings.Join(a[max(0, k-6):min(len(a), k+6)], " "), strings.Join(b[max(0, min(k, len(b))-6):min(len(b), k+6)], " "))
	}
	crlf := bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	with, m, _, err := rewriteText(path, crlf, pattern, pattern)
	if s.planted {
		return err
	}
	if err == nil && (m != n || !bytes.Equal(bytes.ReplaceAll(with, []byte("\r\n"), []byte("\n")), after)) {
		s.endings++
		s.tell("%s: %s: %d places, %d with CRLF", path, pattern, n, m)
	}
	return err
}

func (s *same) tell(format string, args ...any) {
	if s.show--; s.show >= 0 {
		fmt.Printf(format+"\n", args...)
	}
}

// rewriteText replaces the matches of a pattern in a text by a template.
func rewriteText(path string, text []byte, pattern, template string) (after []byte, count, refused int, err error) {
	p, err := structure.Compile(pattern, 0)
	if err != nil {
		return nil, 0, 0, err
	}
	t, err := p.Template(template, 0)
	if err != nil {
		return nil, 0, 0, err
	}
	code := structure.NewText(nil, path, text)
	if code == nil {
		return nil, 0, 0, nil
	}
	edits, no, count, complete := t.Replace(code)
	if !complete {
		return nil, 0, 0, errors.New("took too many steps")
	}
	return applied(text, edits), count, len(no), nil
}

// applied applies edits, which are in order, to a text.
func applied(text []byte, edits []structure.Edit) (after []byte) {
	at := 0
	for _, e := range edits {
		after = append(append(after, text[at:e.Start]...), e.New...)
		at = e.End
	}
	return append(after, text[at:]...)
}

// pieces returns the tokens of a text, followed by its comments.
func pieces(path string, text []byte) (list []string) {
	code := symbols.Lex(nil, path, text)
	if code == nil {
		return nil
	}
	for i, t := range code.Tokens {
		word := string(text[t.Start:t.End])
		if word == "," && i+1 < len(code.Tokens) && strings.Contains(")]}", string(text[code.Tokens[i+1].Start:code.Tokens[i+1].End])) {
			continue
		}
		list = append(list, word)
	}
	for _, c := range code.Comments {
		list = append(list, strings.Join(strings.Fields(string(text[c[0]:c[1]])), " "))
	}
	return list
}
