package vault

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// checkLinks verifies the guarantees for a list of links.
func checkLinks(t *testing.T, text []byte, links []Link) {
	t.Helper()
	last := 0
	for _, l := range links {
		for _, s := range []Span{l.Span, l.PathSpan, l.SubpathSpan, l.AliasSpan} {
			if s.Start < 0 || s.End < s.Start || s.End > len(text) {
				t.Fatalf("span %v of %d bytes in %+v", s, len(text), l)
			}
		}
		if l.PathSpan.Start < l.Span.Start || l.PathSpan.End > l.Span.End {
			t.Fatalf("path %v outside %v", l.PathSpan, l.Span)
		}
		if l.Span.Start < last {
			t.Fatalf("links out of order")
		}
		last = l.Span.Start
		if l.Kind == Wiki && l.quote == unquoted && string(l.PathSpan.In(text)) != l.Path {
			t.Fatalf("path %q reads %q", l.PathSpan.In(text), l.Path)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"[[a#b|c]] ![[d|1x2]]", "[t](<a b> \"c\") [x]: y\n\n[x]: y", "```\n[[a]]\n```\n> - [[b]]", "---\na: \"[[b]]\"\n---\n%%\n[[c]]\n%% $$x$$", "| a |\n|-|\n| [[b\\|c]] |", "<!-- x\n-->[[a]] <a b=\"c\">", "\xff[[\xfe]]\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := []byte(s)
		n := scanNote(text)
		checkLinks(t, text, n.Links)
		for _, h := range n.Headings {
			_ = h.Span.In(text)
		}
		for _, x := range n.Tags {
			if string(x.Span.In(text)) != "#"+x.Name {
				t.Fatalf("tag %q", x.Name)
			}
		}
		for _, b := range n.BlockIDs {
			if string(b.Span.In(text)) != "^"+b.ID {
				t.Fatalf("block %q", b.ID)
			}
		}
	})
}

func FuzzCanvas(f *testing.F) {
	for _, s := range []string{`{"nodes":[{"type":"file","file":"a\u00e9.md","subpath":"#x"}]}`, `{"nodes":[{"text":"[[a]]\n\ud83d\ude00[b](c)","type":"text"}],"x":[1e400,null]}`, `{"nodes":[[{"type":"file","file":"x"}]]}`, "\xef\xbb\xbf{}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := []byte(s)
		links, err := ScanCanvas(ctx, text)
		if err != nil {
			return
		}
		checkLinks(t, text, links)
		// A renamed file node must contain the new name.
		for i, l := range links {
			if l.Kind != CanvasFile {
				continue
			}
			q, _ := l.quote.encode("new \"na\\me\"\x01.md")
			out, err := ApplySplices(text, []Splice{{Span: l.PathSpan, New: q}})
			if err != nil || !json.Valid([]byte(strings.TrimPrefix(string(out), bom))) {
				t.Fatalf("%q: %v", out, err)
			}
			after, err := ScanCanvas(ctx, out)
			if err != nil || len(after) != len(links) || after[i].Path != "new \"na\\me\"\x01.md" {
				t.Fatalf("%q reads %+v, %v", out, after, err)
			}
		}
	})
}

// FuzzMove moves a note with an arbitrary name and arbitrary links. A link that resolved
// to its file must still resolve to it or be counted as broken, and bytes outside links
// must not change. The vault is small; TestMoveEveryNote has large ones.
func FuzzMove(f *testing.F) {
	f.Add("[[x]] [t](x.md) `[[x]]`", "A/y z", "---\na: \"[[x]]\"\n---\n[[./n]]")
	f.Add("[[A/x|x]] ![[x#h|100]]\n\n[i]: <x.md>", "C# [d]", "|a|\n|-|\n|[[x\\|x]]|")
	f.Fuzz(func(t *testing.T, note, name, other string) {
		if !isCleanPath(name) || strings.ContainsRune(name, 0) {
			return
		}
		m := vaultOf("x.md", other, "n.md", note, "A/n.md", "[[x]] [[n]]", "A/x.png", "", "c.canvas", `{"nodes":[{"type":"file","file":"x.md"}]}`)
		to := name + ".md"
		if _, ok := m[to]; ok {
			return
		}
		g, err := NewGraph(ctx, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(m, nil)
		plan, err := g.Plan(ctx, m, []Move{{"x.md", to}}, PlanOptions{Update: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range plan.Files {
			links := linksOf(e.From, []byte(m[e.From]))
			for _, sp := range e.Splices {
				if !slices.ContainsFunc(links, func(l Link) bool { return l.Span.Start <= sp.Span.Start && sp.Span.End <= l.Span.End }) {
					t.Fatalf("%v of %s is in no link: %q", sp, e.From, m)
				}
			}
		}
		w.carryOut(t, plan)
		if lost, _ := w.violations(); lost > plan.Broken {
			t.Fatalf("%d links lost, %d counted: %q", lost, plan.Broken, m)
		}
	})
}
