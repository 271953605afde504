package vaultdir

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"quarry/internal/changer"
	"quarry/internal/rootfs"
	"quarry/internal/vault"
	"quarry/internal/walk"
	"quarry/match"
)

// A move affects only notes with a link to the old or the new name of a file. Parsing the
// links of 5,000 notes takes 80 ms of processor time, and searching them for a few words
// 5 ms. So notes are first searched with a pattern that matches every spelling of those
// names.
//
// mention may match other notes too. A note without a match has no link to one of these
// names.
type mention struct{ pattern *match.Pattern }

// maxMentions limits the number of names in the pattern. If there are more, nearly every
// note has one of them, so all notes are scanned.
const maxMentions = 64

// mentions makes the pattern for moves. It returns nil if every note must be scanned.
func (d *Dir) mentions(ctx context.Context, moves []changer.Move) *mention {
	names := map[string]bool{}
	for _, m := range moves {
		names[m.From.Base()], names[m.To.Base()] = true, true
		if info, err := d.root.Stat(m.From); err != nil {
			return nil
		} else if info.Type == rootfs.TypeDir {
			files, err := d.filesIn(ctx, m.From)
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
	exprs, ok := vault.Mentions(slices.Sorted(maps.Keys(names)))
	if !ok {
		return nil
	}
	p, err := match.CompileAny(exprs, match.Options{Case: match.Insensitive, Mode: match.Text})
	if err != nil {
		return nil
	}
	return &mention{p}
}

// filesIn lists the names of the files in a folder and below it, except hidden and
// denied ones.
func (d *Dir) filesIn(ctx context.Context, dir rootfs.Path) ([]string, error) {
	var out []string
	_, err := walk.Walk(ctx, d.root, &walk.Options{Start: dir, NoIgnore: true, Workers: 1}, func(v *walk.Visit) error {
		for i := range v.Files {
			out = append(out, strings.Clone(v.Files[i].Name))
		}
		return nil
	})
	return out, err
}

// in reports whether a text may have such a link.
func (m *mention) in(matcher *match.Matcher, text []byte) bool {
	_, _, found := matcher.Find(text, 0)
	return found
}
