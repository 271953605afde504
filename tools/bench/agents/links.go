package main

import (
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// move is a file or folder of a vault that gets another path.
type move struct {
	From string `json:"from"`
	To   string `json:"to"`
}

var (
	code = regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]*`")
	link = regexp.MustCompile(`\[\[([^\]|#\n]*)(#[^\]|\n]*)?(\|[^\]\n]*)?\]\]|\]\(<?([^)>\n#:]+)(#[^)>\n]*)?>?\)`)
)

// decideMoves compares a vault with its first commit. Every file must be where the moves put it, and
// its text must be the same once each link is replaced by the note that it leads to. Text in code
// and files in dot folders are ignored.
func decideMoves(tree string, moves []move, fail func(string, ...any)) error {
	before, err := original(tree)
	if err != nil {
		return err
	}
	defer os.RemoveAll(before)
	was, err := readVault(before)
	if err != nil {
		return err
	}
	now, err := readVault(tree)
	if err != nil {
		return err
	}
	moved := func(name string) string {
		for _, m := range moves {
			if name == m.From || strings.HasPrefix(name, m.From+"/") {
				return m.To + name[len(m.From):]
			}
		}
		return name
	}
	same := func(name string) string { return name }
	back := func(name string) string {
		for _, m := range moves {
			if name == m.To || strings.HasPrefix(name, m.To+"/") {
				return m.From + name[len(m.To):]
			}
		}
		return name
	}
	known := map[string]bool{}
	for name := range was.texts {
		to := moved(name)
		text, ok := now.texts[to]
		if !ok {
			fail("%s does not exist", to)
			continue
		}
		known[to] = true
		if strings.HasSuffix(name, ".md") && was.resolved(name, was.texts[name], moved, same) != now.resolved(to, text, same, back) ||
			!strings.HasSuffix(name, ".md") && was.texts[name] != text {
			fail("links or text of %s are wrong", to)
		}
	}
	for name := range now.texts {
		if !known[name] {
			fail("%s is new", name)
		}
	}
	return nil
}

type vault struct {
	texts  map[string]string
	byName map[string][]string // paths by lower-case name
}

func readVault(dir string) (*vault, error) {
	v := &vault{map[string]string{}, map[string][]string{}}
	err := files(dir, func(name string, text []byte) error {
		if !strings.HasPrefix(name, ".") {
			v.texts[name] = string(text)
			base := strings.ToLower(path.Base(name))
			v.byName[base] = append(v.byName[base], name)
		}
		return nil
	})
	return v, err
}

// resolved returns the text of a note without code. Each link is replaced by its target's path after
// the moves, and by its displayed text unless that is the target's name before or after the moves:
// either may be shown. moved and back map paths of this vault to those after and before the moves.
func (v *vault) resolved(name, text string, moved, back func(string) string) string {
	if strings.Contains(text, "`") {
		text = code.ReplaceAllString(text, "")
	}
	return link.ReplaceAllStringFunc(text, func(s string) string {
		m := link.FindStringSubmatch(s)
		target, heading, shown := m[1], m[2]+m[5], m[3]
		if m[4] != "" {
			target = m[4]
			if t, err := url.PathUnescape(target); err == nil {
				target = t
			}
		}
		to := v.find(name, strings.TrimSpace(target))
		if to == "" {
			return s
		}
		if slices.ContainsFunc([]string{back(to), moved(to)}, func(p string) bool { return shown == "|"+strings.TrimSuffix(path.Base(p), ".md") }) {
			shown = ""
		}
		return "<" + moved(to) + heading + shown + ">"
	})
}

// find returns the path of the file to which a link in a note leads, or "". Of several files with the name, it
// takes the one in the same folder, otherwise the one with the shortest path.
func (v *vault) find(from, target string) string {
	if target == "" {
		return ""
	}
	for _, t := range []string{target, target + ".md"} {
		for _, full := range []string{t, path.Join(path.Dir(from), t)} {
			if _, ok := v.texts[full]; ok {
				return full
			}
		}
		var found []string
		for _, p := range v.byName[strings.ToLower(path.Base(t))] {
			if strings.HasSuffix(strings.ToLower(p), strings.ToLower("/"+strings.TrimPrefix(t, "/"))) {
				found = append(found, p)
			}
		}
		slices.SortFunc(found, func(a, b string) int {
			if n := strings.Count(a, "/") - strings.Count(b, "/"); n != 0 {
				return n
			}
			return strings.Compare(a, b)
		})
		if len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
