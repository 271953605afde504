package repos

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"quarry/internal/ignore"
	"quarry/internal/remote"
	"quarry/internal/walk"
)

// facts are what must be known about a repository at one commit to give the
// same answers as for a folder.
type facts struct {
	rules  map[string][]ignore.Set // by folder, "" for the top
	absent map[string]*Absence     // files whose content the server doesn't keep
	blind  []string                // ignore files among these
}

// Absence is why a server has a file's name but not its content.
type Absence struct {
	Why    Why
	detail string
}

func (a *Absence) Error() string { return a.detail }

// Why is the kind of file whose content a server omits.
type Why uint8

const (
	Unknown Why = iota
	Binary
	TooLarge
	Tiny // one or two bytes
)

// notIndexed is the text that a server stores instead of a content it omits.
const notIndexed = "NOT-INDEXED: "

// absence reports whether a content is the text that a server stores instead.
func absence(content []byte) (*Absence, bool) {
	const longest = 80 // more is a text that happens to begin so
	if len(content) >= longest {
		return nil, false
	}
	reason, ok := strings.CutPrefix(string(content), notIndexed)
	if !ok {
		return nil, false
	}
	a := &Absence{detail: "the server doesn't have it: it " + reason}
	switch reason {
	case "contains binary content":
		a.Why = Binary
	case "exceeds the maximum size limit", "contains too many trigrams":
		a.Why = TooLarge
	case "contains too few trigrams":
		a.Why, a.detail = Tiny, "the server doesn't keep files of one or two bytes"
	}
	return a, true
}

// ruleFiles finds ignore files by their path.
var ruleFiles = sync.OnceValue(func() string {
	var names []string
	for _, name := range ignore.FileNames {
		names = append(names, regexp.QuoteMeta(name))
	}
	return "(^|/)(" + strings.Join(names, "|") + ")$"
})

func factsKey(r *remote.Repo) string { return r.Name + "\x00" + r.Commit }

// factsOf returns what is known about a repository; false before loadFacts.
func (t *Tree) factsOf(p *remote.Repo) (facts, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, ok := t.facts[factsKey(p)]
	return f, ok
}

// loadFacts fetches the facts about repositories of one server that are not
// known yet.
func (t *Tree) loadFacts(ctx context.Context, server int, repos []*remote.Repo) error {
	var names []string
	fresh := map[string]facts{}
	for _, p := range repos {
		if _, known := t.factsOf(p); !known {
			names = append(names, p.Name)
			fresh[p.Name] = facts{rules: map[string][]ignore.Set{}, absent: map[string]*Absence{}}
		}
	}
	if len(names) == 0 {
		return nil
	}
	docs, err := t.client.Search(ctx, server, remote.And(remote.Head(), remote.In(names...),
		remote.Or(remote.PathMatch(ruleFiles(), false), remote.Text(notIndexed, false))), true)
	if err != nil {
		return err
	}
	for i := range docs {
		if f, ok := fresh[docs[i].Repo]; ok {
			f.learn(&docs[i])
			fresh[docs[i].Repo] = f
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range repos {
		if f, ok := fresh[p.Name]; ok {
			t.facts[factsKey(p)] = f
		}
	}
	return nil
}

// learn takes one document in.
func (f *facts) learn(d *remote.Doc) {
	dir, name := "", d.Path
	if i := strings.LastIndexByte(d.Path, '/'); i >= 0 {
		dir, name = d.Path[:i], d.Path[i+1:]
	}
	kind, rules := ignore.FileKind(name)
	if a, absent := absence(d.Content); absent {
		f.absent[d.Path] = a
		if rules {
			f.blind = append(f.blind, d.Path)
		}
	} else if rules {
		f.rules[dir] = append(f.rules[dir], ignore.Set{Kind: kind, Rules: ignore.Parse(d.Repo+"/"+d.Path, d.Content)})
	}
}

// UnknownRules is for an ignore file that no server has. Files that it may
// ignore are searched, since nobody would notice that they are missing.
type UnknownRules struct{ Absence *Absence }

func (e *UnknownRules) Error() string {
	return "the rules of this ignore file are not known, so it hides nothing: " + e.Absence.Error()
}

// doubts are the ignore files of the judge's repository whose rules are
// unknown, if they might ignore files that were let through.
func (j *Judge) doubts(passed []File) (list []walk.Skip) {
	if j.want.Walk.NoIgnore {
		return nil
	}
	for _, p := range j.facts.blind {
		full := j.repo + "/" + p
		dir := full[:strings.LastIndexByte(full, '/')+1]
		if slices.ContainsFunc(passed, func(f File) bool { return strings.HasPrefix(f.Path, dir) }) {
			list = append(list, walk.Skip{Path: full, Reason: walk.Unreadable, Err: &UnknownRules{j.facts.absent[p]}})
		}
	}
	return list
}

// forget drops facts about commits that are no longer served. t.mu is held.
func (t *Tree) forget(l *Listing) {
	if len(t.facts) <= 2*len(l.Repos)+64 {
		return
	}
	kept := make(map[string]facts, len(l.Repos))
	for i := range l.Repos {
		key := factsKey(&l.Repos[i])
		if f, ok := t.facts[key]; ok {
			kept[key] = f
		}
	}
	t.facts = kept
}
