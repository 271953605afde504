package vault

import (
	"fmt"
	"math/rand/v2"
	"quarry/internal/stress"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestResolve(t *testing.T) {
	files := []string{"Home.md", "A/x.md", "B/x.md", "B/C/x.md", "B/C/deep.md", "A/pic.png", "pic.png.md", "B/Ünï.md",
		"LICENSE", "License.md", "v1.2.md", "A/Sub/Home.md", "note.MD", "case/Key.md", "case/key.md", "A/only.md", "B/A/two.md"}
	ix := NewIndex(files)
	for _, c := range []struct{ name, source, link, want string }{
		{"exact path", "Home.md", "B/C/x", "B/C/x.md"},
		{"exact path with extension", "Home.md", "B/C/x.md", "B/C/x.md"},
		{"exact path beats the source's folder", "A/Sub/n.md", "Home", "Home.md"},
		{"source's folder beats the shortest", "B/C/n.md", "x", "B/C/x.md"},
		{"shortest, then byte order", "Home.md", "x", "A/x.md"},
		{"shortest by name", "Home.md", "deep", "B/C/deep.md"},
		{"end of a path", "Home.md", "C/x", "B/C/x.md"},
		{"end of a path only at a folder", "Home.md", "ub/Home", ""},
		{"from the source's folder", "B/n.md", "A/two", "B/A/two.md"},
		{"any case", "Home.md", "b/c/DEEP", "B/C/deep.md"},
		{"the spelling decides among equals", "Home.md", "case/key", "case/key.md"},
		{"the spelling decides among equals, upper", "Home.md", "Key", "case/Key.md"},
		{"decomposed", "Home.md", "U\u0308ni\u0308", "B/Ünï.md"},
		{"extension explicit", "Home.md", "pic.png", "A/pic.png"},
		{"attachments need theirs", "Home.md", "pic", ""},
		{"a note with a dotted name", "Home.md", "pic.png.md", "pic.png.md"},
		{"no extension means the note", "A/x.md", "License", "License.md"},
		{"a version is no extension", "Home.md", "v1.2", "v1.2.md"},
		{"upper-case extension", "Home.md", "note", "note.MD"},
		{"dot is exact", "B/C/n.md", "./x", "B/C/x.md"},
		{"dot does not search", "B/C/n.md", "./only", ""},
		{"dot dot", "B/C/n.md", "../x", "B/x.md"},
		{"dot dot twice", "B/C/n.md", "../../A/x.md", "A/x.md"},
		{"dot dot inside", "B/C/n.md", "y/../x", "B/C/x.md"},
		{"above the vault", "B/n.md", "../../x", ""},
		{"leading slash", "B/n.md", "/A/x", "A/x.md"},
		{"leading slash is exact", "B/n.md", "/deep", ""},
		{"itself", "B/n.md", "", "B/n.md"},
		{"missing", "B/n.md", "nope", ""},
		{"folder", "Home.md", "../", ""},
		{"slash alone", "Home.md", "/", ""},
	} {
		got, ok := ix.Resolve(c.source, c.link)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: Resolve(%q, %q) = %q, %v, want %q", c.name, c.source, c.link, got, ok, c.want)
		}
	}
}

func TestAliasesNeverResolve(t *testing.T) {
	f := memory{"a.md": "---\naliases: [Other]\n---\n", "b.md": "[[Other]]"}
	g, err := NewGraph(ctx, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := g.index.Resolve("b.md", "Other"); ok {
		t.Errorf("an alias resolved to %s", p)
	}
}

// slowResolve implements the rules of Resolve naively: it checks every file.
func slowResolve(files []string, source, link string) (string, bool) {
	if link == "" {
		return source, true
	}
	pick := func(spelled string, byLength bool, fits func(string) bool) string {
		best := ""
		for _, f := range files {
			if !fits(f) {
				continue
			}
			fl, bl := utf8.RuneCountInString(f), utf8.RuneCountInString(best)
			if !byLength {
				fl, bl = 0, 0
			}
			fs, bs := strings.HasSuffix(f, spelled), strings.HasSuffix(best, spelled)
			if best == "" || fl < bl || fl == bl && (fs && !bs || fs == bs && f < best) {
				best = f
			}
		}
		return best
	}
	for _, try := range spellings(link) {
		exact := func(p string) string {
			return pick(p, false, func(f string) bool { return fold(f) == fold(p) })
		}
		var p string
		switch {
		case try[0] == '/':
			p = exact(strings.TrimLeft(try, "/"))
		case isDotted(try):
			if q, ok := cleanRelative(dir(source), try); ok {
				p = exact(q)
			}
		default:
			if p = exact(try); p == "" {
				p = exact(join(dir(source), try))
			}
			if p == "" {
				p = pick(try, true, func(f string) bool { return strings.HasSuffix("/"+fold(f), "/"+fold(try)) })
			}
		}
		if p != "" {
			return p, true
		}
	}
	return "", false
}

func TestResolveAgainstSlow(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "A", "b", "é", "E\u0301", "ß", "a.b", "K", "\u212a", "x.png", "a.md", "longer name"}
	folders := []string{"", "A/", "B/", "A/B/", "a/", "é/", "A/A/"}
	one := func() string { return folders[rng.IntN(len(folders))] + names[rng.IntN(len(names))] }
	for range stress.Fewer(300) {
		seen := map[string]bool{}
		var files []string
		for range rng.IntN(30) {
			p := one()
			if rng.IntN(4) > 0 {
				p += ".md"
			}
			if !seen[p] {
				seen[p] = true
				files = append(files, p)
			}
		}
		ix := NewIndex(files)
		if rng.IntN(2) == 0 { // building the index incrementally must give the same index
			ix = NewIndex(nil)
			for _, i := range rng.Perm(len(files)) {
				ix.Add(files[i])
			}
		}
		for range 60 {
			source, link := one()+".md", []string{"", "./", "../", "/", "", ""}[rng.IntN(6)]+one()
			got, _ := ix.Resolve(source, link)
			want, _ := slowResolve(files, source, link)
			if got != want {
				t.Fatalf("Resolve(%q, %q) = %q, slow %q in %q", source, link, got, want, files)
			}
		}
	}
}

func TestFold(t *testing.T) {
	for _, c := range [][2]string{{"ABC", "abc"}, {"É", "e\u0301"}, {"K", "k"}, {"Straße", "STRAßE"}, {"ΣΑΣ", "σας"}, {"Ж", "ж"}} {
		if fold(c[0]) != fold(c[1]) {
			t.Errorf("fold(%q) = %q, fold(%q) = %q", c[0], fold(c[0]), c[1], fold(c[1]))
		}
	}
	if fold("a") == fold("b") {
		t.Error("a folds to b")
	}
}

// memory is a vault in memory.
type memory map[string]string

func (m memory) Paths() []string {
	var out []string
	for p := range m {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

func (m memory) Read(path string) ([]byte, error) {
	s, ok := m[path]
	if !ok {
		return nil, fmt.Errorf("%s: no such file", path)
	}
	return []byte(s), nil
}
