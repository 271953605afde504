package review

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"quarry/change"
	"quarry/internal/glob"
	"quarry/match"
)

// Action is how a change is treated, from least to most strict.
type Action uint8

const (
	Accept Action = iota // the change is made
	Ask                  // a reviewer decides
	Refuse               // the change is refused without asking
)

func (a Action) String() string { return [...]string{"accept", "ask", "refuse"}[a] }

// Rules determine which changes are made, which need a decision and which are refused.
// They belong to the owner: no client can create, change or try rules.
//
// Of all rules that match a part of a change, the strictest applies; their order doesn't
// matter. The strictest part determines the action for the change. So a change is
// accepted only if every part is. Paths are those of the plan, with links resolved. Since
// a client can claim any name, a rule for a client may ask or refuse, but not accept.
type Rules struct{ list []Rule }

// Rule is one line of text: an action, followed by its conditions. If there are several
// globs, one of them must match.
//
//	accept docs/**
//	refuse *.lock
//	ask lines>200
//	ask client:cursor tool:delete_file "my notes/**"
type Rule struct {
	Text   string
	Action Action

	globs, folded []*glob.Glob // folded are the same globs for case-insensitive matching
	tool, client  string
	over, atMost  int // limits of changed lines; -1 means none
}

// maxRules limits the number of a workspace's rules.
const maxRules = 200

// ParseRules parses rules, one per line.
func ParseRules(lines []string) (*Rules, error) {
	if len(lines) > maxRules {
		return nil, fmt.Errorf("there are %d rules: at most %d are allowed", len(lines), maxRules)
	}
	r := &Rules{}
	for _, l := range lines {
		rule, err := parseRule(l)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", l, err)
		}
		r.list = append(r.list, rule)
	}
	return r, nil
}

func parseRule(text string) (Rule, error) {
	rule := Rule{Text: strings.TrimSpace(text), over: -1, atMost: -1}
	words, err := splitRule(rule.Text)
	if err != nil {
		return rule, err
	}
	if len(words) == 0 {
		return rule, errors.New("it is empty: write accept, ask or refuse, and what it is about")
	}
	switch words[0].text {
	case "accept":
		rule.Action = Accept
	case "ask":
		rule.Action = Ask
	case "refuse":
		rule.Action = Refuse
	default:
		return rule, fmt.Errorf("invalid action %q: a rule begins with accept, ask or refuse", words[0].text)
	}
	if len(words) == 1 {
		return rule, errors.New("it fits every change: name a path glob (** for all), tool:NAME, client:NAME or lines>N")
	}
	for _, w := range words[1:] {
		if err := rule.take(w); err != nil {
			return rule, err
		}
	}
	if rule.Action == Accept && rule.client != "" {
		return rule, errors.New("a rule that accepts can't name a client: a client's name is only its own word")
	}
	return rule, nil
}

// take parses one condition.
func (r *Rule) take(w word) error {
	kind, value, named := strings.Cut(w.text, ":")
	switch {
	case w.quoted:
	case named && kind == "tool":
		return setOnce(&r.tool, value, "tool")
	case named && kind == "client":
		return setOnce(&r.client, value, "client")
	case strings.HasPrefix(w.text, "lines>"):
		return r.size(&r.over, w.text[len("lines>"):])
	case strings.HasPrefix(w.text, "lines<="):
		return r.size(&r.atMost, w.text[len("lines<="):])
	case strings.HasPrefix(w.text, "lines"):
		return fmt.Errorf("invalid size %q: write lines>200 or lines<=20", w.text)
	}
	pattern := strings.TrimSuffix(w.text, "/") // a rule for a folder always includes its contents
	if pattern == "" || strings.HasPrefix(pattern, "!") {
		return fmt.Errorf("invalid path glob %q: negation is not possible, write a rule that is stricter", w.text)
	}
	for _, one := range []struct {
		into    *[]*glob.Glob
		pattern string
	}{{&r.globs, pattern}, {&r.folded, fold(strings.ReplaceAll(pattern, `\ `, " "))}} {
		g, err := glob.Compile(one.pattern, glob.Gitignore)
		if err != nil {
			return fmt.Errorf("path glob %q: %w", w.text, err)
		}
		*one.into = append(*one.into, g)
	}
	return nil
}

func setOnce(into *string, value, what string) error {
	if value == "" || *into != "" {
		return fmt.Errorf("%s: must have exactly one name after it", what)
	}
	*into = value
	return nil
}

func (r *Rule) size(into *int, text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || *into >= 0 {
		return fmt.Errorf("invalid number of lines %q", text)
	}
	*into = n
	return nil
}

// word is a word of a rule. A quoted word is always a path glob.
type word struct {
	text   string
	quoted bool
}

func splitRule(text string) ([]word, error) {
	var list []word
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if text[0] == '"' {
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil, errors.New("unclosed quotation mark")
			}
			inner, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, err
			}
			list, text = append(list, word{inner, true}), text[len(quoted):]
			continue
		}
		end := strings.IndexAny(text, " \t")
		if end < 0 {
			end = len(text)
		}
		list, text = append(list, word{text: text[:end]}), text[end:]
	}
	return list, nil
}

// Texts returns the rules as text.
func (r *Rules) Texts() []string {
	list := []string{}
	if r != nil {
		for i := range r.list {
			list = append(list, r.list[i].Text)
		}
	}
	return list
}

// sized reports whether any rule has a condition on the size of changes.
func (r *Rules) sized() bool {
	for i := range r.list {
		if r.list[i].over >= 0 || r.list[i].atMost >= 0 {
			return true
		}
	}
	return false
}

// Asked is a change to which the rules are applied.
type Asked struct {
	Tool   string
	Client change.Client
	Parts  []RulePart
	// Before returns how many lines of a path clients changed since a reviewer last
	// accepted a change of it; nil means none.
	Before func(path string) int
}

// RulePart is a path that a change affects, and the number of lines changed there.
type RulePart struct {
	Path  string
	Lines int
}

// Ruling is the action for a change, and the reason.
type Ruling struct {
	Action Action
	Rule   string // the decisive rule; "" if none matched
	Path   string // the path that it matched
}

// Judge applies the rules to a change. otherwise is the action for parts that match no
// rule.
func (r *Rules) Judge(a Asked, otherwise Action) Ruling {
	out := Ruling{Action: otherwise}
	for i, p := range a.Parts {
		one := r.part(a, p, otherwise)
		if i == 0 || one.Action > out.Action || one.Action == out.Action && out.Rule == "" {
			out = one
		}
	}
	return out
}

func (r *Rules) part(a Asked, p RulePart, otherwise Action) Ruling {
	lines := -1
	size := func() int {
		if lines < 0 {
			if lines = p.Lines; a.Before != nil {
				lines += a.Before(p.Path)
			}
		}
		return lines
	}
	out := Ruling{Action: otherwise, Path: p.Path}
	found := false
	for i := range r.list {
		rule := &r.list[i]
		if (!found || rule.Action > out.Action) && rule.fits(a, p.Path, size) {
			out.Action, out.Rule, found = rule.Action, rule.Text, true
		}
	}
	return out
}

// fits reports whether a rule matches path p of a change. A rule that asks or refuses
// also matches names in another case or spelling, and a client without a name.
func (r *Rule) fits(a Asked, p string, size func() int) bool {
	tightens := r.Action != Accept
	if r.tool != "" && !strings.EqualFold(r.tool, a.Tool) {
		return false
	}
	if r.client != "" && a.Client.Name != "" && !strings.EqualFold(r.client, a.Client.Name) {
		return false
	}
	if len(r.globs) > 0 && !covers(r.globs, p) && !(tightens && covers(r.folded, fold(p))) {
		return false
	}
	return (r.over < 0 || size() > r.over) && (r.atMost < 0 || size() <= r.atMost)
}

// covers reports whether a glob matches a path or one of its folders.
func covers(globs []*glob.Glob, p string) bool {
	for ; p != "." && p != "/"; p = path.Dir(p) {
		for _, g := range globs {
			if g.Match(p) {
				return true
			}
		}
	}
	return false
}

// fold returns a path as seen by file systems that ignore case, and dots and spaces at
// the end of a name.
func fold(p string) string {
	parts := strings.Split(strings.Map(match.FoldRune, p), "/")
	for i, s := range parts {
		if t := strings.TrimRight(s, ". "); t != "" {
			parts[i] = t
		}
	}
	return strings.Join(parts, "/")
}
