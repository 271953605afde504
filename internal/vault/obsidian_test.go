package vault

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// The repository of obsidian-tasks contains Obsidian's own cache of the notes of a vault.
// QUARRY_OBSIDIAN is the path of a checkout at commit 521edd52e: later notes differ from
// the cache.
func obsidianTasks(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("QUARRY_OBSIDIAN")
	if dir == "" {
		t.Skip("set QUARRY_OBSIDIAN to a checkout of obsidian-tasks to compare with what Obsidian says")
	}
	return dir
}

type dumpPosition struct {
	Start struct{ Offset int }
	End   struct{ Offset int }
}

type dumpItem struct {
	Position dumpPosition
	Heading  string
	Level    int
	Original string
	Link     string
	Tag      string
	ID       string
	Type     string
}

type dump struct {
	CachedMetadata struct {
		Headings, Links, Embeds, Tags, Sections, ListItems []dumpItem
		Blocks                                             map[string]dumpItem
	}
	FileContents string
}

// inUTF16 converts a byte offset to a JavaScript offset.
func inUTF16(text []byte, at int) int { return len(utf16.Encode([]rune(string(text[:at])))) }

// Scan finds the same parts at the same offsets as Obsidian's cache of 89 notes:
// headings, links, embeds, tags, block ids, sections and list items.
func TestScanAgainstObsidian(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(obsidianTasks(t), "tests/Obsidian/__test_data__/*.json"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d dumps: %v", len(files), err)
	}
	said := map[string]int{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var d dump
		if err := json.Unmarshal(data, &d); err != nil {
			t.Fatal(err)
		}
		text := []byte(d.FileContents)
		want, got := obsidianSays(&d), weSay(text)
		for _, kind := range slices.Sorted(maps.Keys(want)) {
			if kind == "item" && strings.HasPrefix(filepath.Base(f), "numbered_tasks_issue_3481") {
				continue // Obsidian reads "- [ ] 1. x" as a list in a task, CommonMark as text
			}
			if !slices.Equal(got[kind], want[kind]) {
				t.Errorf("%s: %s\n got %s\nwant %s", filepath.Base(f), kind, strings.Join(got[kind], "\n     "), strings.Join(want[kind], "\n     "))
			}
			said[kind] += len(want[kind])
		}
	}
	for _, kind := range []string{"heading", "link", "tag", "section", "item", "block"} {
		if said[kind] == 0 {
			t.Errorf("Obsidian names no %s", kind)
		}
	}
	t.Logf("%d notes, what Obsidian names: %v", len(files), said)
}

// obsidianSays lists the entries of the cache without blanks at either end: Obsidian's
// items begin within their indentation, and some end after the line.
func obsidianSays(d *dump) map[string][]string {
	text := utf16.Encode([]rune(d.FileContents))
	at := func(p dumpPosition) string {
		from, to := p.Start.Offset, p.End.Offset
		for from < to && strings.ContainsRune(" \t\r\n", rune(text[from])) {
			from++
		}
		for to > from && strings.ContainsRune(" \t\r\n", rune(text[to-1])) {
			to--
		}
		return fmt.Sprintf("%d-%d", from, to)
	}
	m := &d.CachedMetadata
	out := map[string][]string{"heading": nil, "link": nil, "tag": nil, "section": nil, "item": nil, "block": nil}
	add := func(kind, s string) { out[kind] = append(out[kind], s) }
	for _, h := range m.Headings {
		add("heading", fmt.Sprintf("%s %d", at(h.Position), h.Level))
	}
	for _, l := range append(m.Links, m.Embeds...) {
		add("link", at(l.Position)+" "+l.Link)
	}
	for _, l := range m.Tags {
		add("tag", at(l.Position)+" "+l.Tag)
	}
	for _, s := range m.Sections {
		if s.Type != "yaml" {
			add("section", at(s.Position)+" "+s.Type)
		}
	}
	for _, s := range m.ListItems {
		add("item", at(s.Position))
	}
	for _, b := range m.Blocks {
		add("block", at(b.Position)+" "+b.ID)
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

func weSay(text []byte) map[string][]string {
	n := scanNote(text)
	at := func(s Span) string {
		s.Start, s.End = trim(text, s.Start, s.End)
		return fmt.Sprintf("%d-%d", inUTF16(text, s.Start), inUTF16(text, s.End))
	}
	out := map[string][]string{}
	add := func(kind, s string) { out[kind] = append(out[kind], s) }
	for _, h := range n.Headings {
		if !h.Nested {
			add("heading", fmt.Sprintf("%s %d", at(h.Span), h.Level))
		}
	}
	for _, l := range n.Links {
		if !l.External && l.Span.Start >= n.FrontMatter.Body && l.Kind != Reference && l.Path+l.Subpath != "" {
			add("link", at(l.Span)+" "+l.Path+l.Subpath)
		}
	}
	for _, l := range n.Tags {
		add("tag", at(l.Span)+" #"+l.Name)
	}
	kinds := [...]string{"paragraph", "heading", "code", "list", "blockquote", "html", "table", "math", "comment", "thematicBreak", "footnoteDefinition"}
	for _, b := range n.Blocks {
		kind := kinds[b.Kind]
		if b.Kind == BlockQuote && strings.HasPrefix(strings.TrimLeft(string(b.Span.In(text)), "> "), "[!") {
			kind = "callout"
		}
		add("section", at(b.Span)+" "+kind)
	}
	for _, it := range n.Items {
		add("item", at(it.Span))
	}
	for _, id := range n.BlockIDs {
		if p, ok := n.part(text, id); ok {
			add("block", at(p.Span)+" "+id.ID)
		}
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

type vaultOnDisk struct {
	dir   string
	paths []string
}

func (v *vaultOnDisk) Paths() []string { return v.paths }
func (v *vaultOnDisk) Read(path string) ([]byte, error) {
	return os.ReadFile(filepath.Join(v.dir, path))
}

// Every link of each note resolves to the same file as in Obsidian, or to none, and
// occurs equally often.
func TestLinksAgainstObsidian(t *testing.T) {
	dir := obsidianTasks(t)
	v := &vaultOnDisk{dir: filepath.Join(dir, "resources/sample_vaults/Tasks-Demo")}
	err := filepath.WalkDir(v.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name()[0] == '.' && p != v.dir {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.IsDir() {
			rel, _ := filepath.Rel(v.dir, p)
			v.paths = append(v.paths, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGraph(ctx, v, nil)
	if err != nil {
		t.Fatal(err)
	}
	load := func(name string) map[string]map[string]int {
		data, err := os.ReadFile(filepath.Join(dir, "tests/Obsidian/__test_data__/metadataCache", name))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]map[string]int
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	links := 0
	resolved, unresolved := load("resolvedLinks.json"), load("unresolvedLinks.json")
	for _, source := range slices.Sorted(maps.Keys(resolved)) {
		got, missing := map[string]int{}, map[string]int{}
		for _, r := range g.Outgoing(source) {
			if r.Target != "" {
				got[r.Target] += r.Count
			} else {
				missing[r.Link] += r.Count
			}
		}
		for _, said := range []map[string]int{resolved[source], unresolved[source]} {
			for _, n := range said {
				links += n
			}
		}
		if !maps.Equal(got, resolved[source]) || !maps.Equal(missing, unresolved[source]) {
			t.Errorf("%s\n got %v, unresolved %v\nwant %v, unresolved %v", source, got, missing, resolved[source], unresolved[source])
		}
	}
	if links < 100 {
		t.Errorf("Obsidian names only %d links", links)
	}
	t.Logf("%d files, %d links that Obsidian names", len(resolved), links)
}
