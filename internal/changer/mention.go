package changer

import (
	"context"
	"path"
	"strings"
	"unicode/utf8"

	"quarry/internal/rootfs"
	"quarry/internal/vault"
	"quarry/internal/walk"
	"quarry/match"
)

// A move concerns only notes with a link to a name that a file had or gets.
// Scanning 5,000 notes for links takes 80 ms of processor time, looking for a
// few words in them 5: so notes are first searched for what every spelling of
// those names has in common.
//
// mention may match more than it must, never less: a note without a match has
// no link whose last name is one of these.
type mention struct{ pattern *match.Pattern }

// maxMentions is how many moved names are looked for; more are no filter.
const maxMentions = 64

// mentions makes the pattern for moves; nil if every note has to be scanned.
func (w *Changer) mentions(ctx context.Context, moving []*task) *mention {
	names := map[string]bool{}
	for _, t := range moving {
		names[t.path.Base()], names[t.to.Base()] = true, true
		if info, err := w.root.Stat(t.path); err != nil {
			return nil
		} else if info.Type == rootfs.TypeDir {
			files, err := w.filesIn(ctx, t.path)
			if err != nil {
				return nil
			}
			for _, f := range files {
				names[path.Base(f)] = true
			}
		}
		if len(names) > maxMentions {
			return nil
		}
	}
	var exprs []string
	for name := range names {
		expr, ok := spellings(name)
		if !ok {
			return nil
		}
		exprs = append(exprs, expr)
	}
	// Letters and digits that are written as something else.
	exprs = append(exprs, `%[3-7]`, `&#`, `&fj`, `\\u00`)
	p, err := match.CompileAny(exprs, match.Options{Case: match.Insensitive, Mode: match.Text})
	if err != nil {
		return nil
	}
	return &mention{p}
}

// filesIn lists the files of a folder of the vault, about.
func (w *Changer) filesIn(ctx context.Context, dir rootfs.Path) ([]string, error) {
	var out []string
	_, err := walk.Walk(ctx, w.root, &walk.Options{Start: dir, NoIgnore: true, Workers: 1}, func(v *walk.Visit) error {
		for i := range v.Files {
			out = append(out, strings.Clone(v.Files[i].Name))
		}
		return nil
	})
	return out, err
}

// spellings is a pattern for every way to write a name in a link: its runs of
// ASCII letters and digits in any case, with some characters between them
// where the name has others, for those may be percent-encoded, escaped or an
// entity. Where it has one beyond ASCII, which may be composed in several ways
// and take 30 characters, the pattern ends; of the parts between, the one with
// the most letters counts. It is not ok for a name with too little to go by.
func spellings(name string) (string, bool) {
	for vault.HasLinks(name) && strings.EqualFold(path.Ext(name), ".md") {
		name = name[:len(name)-3]
	}
	best, most := "", 0
	var b strings.Builder
	letters, gap := 0, 0
	end := func() {
		if letters > most {
			best, most = b.String(), letters
		}
		b.Reset()
		letters, gap = 0, 0
	}
	for name != "" {
		r, size := utf8.DecodeRuneInString(name)
		name = name[size:]
		switch {
		case r >= utf8.RuneSelf, name != "" && name[0] >= utf8.RuneSelf:
			end() // a mark behind a letter may become one with it
			continue
		case '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
		default:
			gap++
			continue
		}
		if gap >= len(gaps) {
			end()
		} else if letters > 0 {
			b.WriteString(gaps[gap])
		}
		gap = 0
		b.WriteRune(r)
		letters++
	}
	end()
	return best, most >= 2
}

// gaps match so many ASCII characters: the longest spelling of one is the 18 of
// &DiacriticalGrave;.
var gaps = [...]string{"", ".{1,18}", ".{1,36}", ".{1,54}"}

// in reports whether a text may have such a link.
func (m *mention) in(matcher *match.Matcher, text []byte) bool {
	_, _, found := matcher.Find(text, 0)
	return found
}
