package quarry

import (
	"context"
	"strings"

	"quarry/internal/ignore"
	"quarry/internal/zoekt"
)

// repoFacts are what has to be known of a repository at one commit to answer
// for it as for a folder.
type repoFacts struct {
	rules   map[string][]ignore.Set // by folder, "" for the top
	missing map[string]absence      // files whose content the server doesn't keep
}

func newFacts() *repoFacts {
	return &repoFacts{rules: map[string][]ignore.Set{}, missing: map[string]absence{}}
}

// absence is why a server has a file's name but not its content.
type absence struct {
	why    Reason
	detail string
	tiny   bool // one or two bytes
}

// notIndexed is what a server keeps in the place of a content it leaves out.
const notIndexed = "NOT-INDEXED: "

// ruleFiles finds ignore files by their path.
const ruleFiles = `(^|/)\.(git|rg|roo)?ignore$`

func factsKey(r *zoekt.Repo) string { return r.Name + "\x00" + r.Commit }

// factsOf gives what is known of a repository; nil before loadFacts.
func (r *remote) factsOf(p *zoekt.Repo) *repoFacts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.facts[factsKey(p)]
}

// loadFacts learns what isn't known yet of repositories of one server.
func (r *remote) loadFacts(ctx context.Context, server int, repos []*zoekt.Repo) error {
	var names []string
	fresh := map[string]*repoFacts{}
	for _, p := range repos {
		if r.factsOf(p) == nil {
			names = append(names, p.Name)
			fresh[p.Name] = newFacts()
		}
	}
	if len(names) == 0 {
		return nil
	}
	docs, err := r.client.Search(ctx, server, zoekt.And(zoekt.Head(), zoekt.In(names...),
		zoekt.Or(zoekt.PathMatch(ruleFiles, false), zoekt.Text(notIndexed, false))), true)
	if err != nil {
		return err
	}
	for i := range docs {
		if f := fresh[docs[i].Repo]; f != nil {
			f.learn(&docs[i])
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range repos {
		if f := fresh[p.Name]; f != nil {
			r.facts[factsKey(p)] = f
		}
	}
	return nil
}

// learn takes one document in.
func (f *repoFacts) learn(d *zoekt.Doc) {
	if reason, ok := strings.CutPrefix(string(d.Content[:min(len(d.Content), 80)]), notIndexed); ok && len(d.Content) < 80 {
		a := absence{why: Unreadable, detail: "the server doesn't have it: it " + reason}
		switch reason {
		case "contains binary content":
			a.why = Binary
		case "exceeds the maximum size limit", "contains too many trigrams":
			a.why = TooLarge
		case "contains too few trigrams":
			a.tiny = true
		}
		f.missing[d.Path] = a
		return
	}
	dir, name := "", d.Path
	if i := strings.LastIndexByte(d.Path, '/'); i >= 0 {
		dir, name = d.Path[:i], d.Path[i+1:]
	}
	if kind, ok := ignore.FileKind(name); ok {
		f.rules[dir] = append(f.rules[dir], ignore.Set{Kind: kind, Rules: ignore.Parse(d.Repo+"/"+d.Path, d.Content)})
	}
}

// forget drops facts about commits that are no longer served. r.mu is held.
func (r *remote) forget(l *listing) {
	if len(r.facts) <= 2*len(l.repos)+64 {
		return
	}
	kept := make(map[string]*repoFacts, len(l.repos))
	for i := range l.repos {
		if f := r.facts[factsKey(&l.repos[i])]; f != nil {
			kept[factsKey(&l.repos[i])] = f
		}
	}
	r.facts = kept
}
