package symbols

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// trust says which tokens of a language are read reliably enough to call a text broken.
// Every language was measured on files that its own parser accepts.
type trust uint8

const (
	brackets trust = 1 << iota // and multi-line comments and strings
	quotes                     // a quote not closed on its line is an error
	indents
)

var trusted = map[*language]trust{
	langPython: brackets | quotes | indents, langJavaScript: brackets | quotes, langTypeScript: brackets | quotes,
	langJava: brackets | quotes, langC: brackets, langCPP: brackets, langCSharp: brackets, langRust: brackets,
	langKotlin: brackets, langSwift: brackets, langZig: brackets | quotes, langPHP: brackets,
	langLua: brackets | quotes, langHaskell: brackets, langElixir: brackets, langRuby: brackets,
}

// Unclosed finds the first bracket, string or comment of a text that is not closed, or is
// closed without being open. In Python it also finds wrong indentation. The problem is ""
// if there is none or it is uncertain.
func Unclosed(path string, content []byte) (line int, problem string) {
	lang := languageOf(path, content)
	may := trusted[lang]
	if may == 0 || len(content) > maxText {
		return 0, ""
	}
	defer func() {
		if recover() != nil { // no steps left
			line, problem = 0, ""
		}
	}()
	var p *parser
	var at int
	for _, one := range []bool{false, true} {
		p = &parser{lang: lang, text: content, names: true, budget: budgetOf(len(content)), oneBranch: one}
		lex(p)
		if at, problem = p.unclosed(may); problem == "" || lang != langC && lang != langCPP {
			break // in C, both ways to read branches have to fail
		}
	}
	if (lang == langCSharp || lang == langSwift) && bytes.Contains(content, []byte("#if")) {
		problem = "" // all branches are read as one text
	}
	if problem == "" && may&indents != 0 {
		at, problem = p.misindented()
	}
	return 1 + bytes.Count(content[:at], []byte("\n")), problem
}

func (p *parser) unclosed(may trust) (at int, problem string) {
	if p.unsure {
		return 0, ""
	}
	if p.openText > 0 {
		return p.openText - 1, "unclosed string or comment"
	}
	markup := (p.lang == langJavaScript || p.lang == langTypeScript) && jsx.Match(p.text)
	var open []int
	for i := range p.toks {
		t := &p.toks[i]
		if markup && t.kind == text && bytes.ContainsAny(p.text[t.start:t.end], "<>{}") {
			return 0, "" // it may be an apostrophe and the text after it
		}
		if t.kind != punct {
			continue
		}
		switch c := p.text[t.start]; c {
		case '\\':
			if p.lang == langC || p.lang == langCPP {
				return 0, "" // the rest of a macro
			}
		case '"', '\'', '`':
			if markup {
				return 0, ""
			}
			if may&quotes != 0 {
				return int(t.start), "unclosed string"
			}
		case '{', '(', '[':
			if !markup || c == '{' {
				open = append(open, i)
			}
		case '}', ')', ']':
			if markup && c != '}' {
				continue
			}
			if len(open) == 0 {
				return int(t.start), fmt.Sprintf("unexpected '%c'", c)
			}
			o := int(p.toks[open[len(open)-1]].start)
			if want := partner(p.text[o]); want != c {
				return int(t.start), fmt.Sprintf("expected '%c', found '%c'", want, c)
			}
			open = open[:len(open)-1]
		}
	}
	if n := len(open); n > 0 {
		o := int(p.toks[open[n-1]].start)
		return o, fmt.Sprintf("'%c' is not closed", p.text[o])
	}
	return 0, ""
}

// jsx finds markup in a script. Its text may contain any quotes and brackets but braces.
var jsx = regexp.MustCompile(`</[A-Za-z>]|/>`)

var pyBlocks = set("def class if elif else for while try except finally with")

// misindented finds a line of Python with wrong indentation, or a block without a colon
// or lines.
func (p *parser) misindented() (at int, problem string) {
	columns := []int{0}
	opens, seen := false, byte(0) // the last line opens a block; whether lines are indented by tabs or spaces
	for i := 0; i < len(p.toks); {
		end := p.logicalEnd(i)
		start := int(p.toks[i].start)
		indent := p.text[bytes.LastIndexByte(p.text[:start], '\n')+1 : start]
		for _, c := range indent {
			if c != ' ' && c != '\t' || seen != 0 && c != seen {
				return 0, "" // tabs and spaces, or the end of a multi-line string
			}
			seen = c
		}
		col, last := len(indent), columns[len(columns)-1]
		switch {
		case opens && col <= last:
			return start, "expected an indented block"
		case opens:
			columns = append(columns, col)
		case col > last:
			return start, "unexpected indent"
		}
		for col < columns[len(columns)-1] {
			columns = columns[:len(columns)-1]
		}
		if col != columns[len(columns)-1] {
			return start, "unindent does not match any outer indentation level"
		}
		opens = p.is(end-1, ":")
		if word := p.is(i, "async") || pyBlocks.has(p.text[start:p.toks[i].end]); word && !opens && !p.colonIn(i, end) {
			return start, "expected ':'"
		}
		i = max(end, i+1)
	}
	if n := len(p.toks); opens && n > 0 {
		return int(p.toks[n-1].start), "expected an indented block"
	}
	return 0, ""
}

// colonIn reports whether a line has a colon outside of brackets.
func (p *parser) colonIn(i, end int) bool {
	for ; i < end; i++ {
		if c := p.byteAt(i); c == '(' || c == '[' || c == '{' {
			i = min(int(p.match[i]), end)
		} else if strings.IndexByte(":", c) >= 0 {
			return true
		}
	}
	return false
}
