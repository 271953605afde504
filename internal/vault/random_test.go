package vault

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quarry/internal/stress"
	"quarry/internal/value"
)

// randomNote makes a note from constructs that are hard to edit.
func randomNote(rng *rand.Rand) []byte {
	pieces := []string{"# A\n", "## B\n", "### C c\n", "# A\n", "## B\n", "Text\n====\n", "text one\n", "text **two** [[n#A]] #tag/x\n", "\n", "\n", "- item\n", "- item ^i%d\n", "  - sub ^s%d\n",
		"para ^p%d\n", "^l%d\n", "> quote\n", "> # in a quote\n", "```\n# code\n```\n", "~~~\n", "|a|b|\n|-|-|\n|1|2|\n", "%% c %%\n", "<!-- x\n# no\n-->\n", "<div>\n# no\n</div>\n", "\t# code\n",
		"$$\nx\n$$\n", "1. one\n", "* star\n", "---\n", "é ü 漢字\n", "#tag #tag/x/y\n", "[^1]: note\n", "[d]: u.md\n", "line without end"}
	var b strings.Builder
	if rng.IntN(2) == 0 {
		b.WriteString([]string{"---\nk: v # c\ntags: [tag, 'tag/z']\nlist:\n  - x\n---\n", "---\n---\n", "---\n\"k\":   'v'\nnum: 007\n---\n", "---\nk: [a\n---\n", "---\ntags:\n- tag\nk: |\n  a\n\n  b\n---\n"}[rng.IntN(5)])
	}
	for i := range 1 + rng.IntN(14) {
		p := pieces[rng.IntN(len(pieces))]
		if strings.Contains(p, "%d") {
			p = fmt.Sprintf(p, i)
		}
		b.WriteString(p)
	}
	text := b.String()
	if rng.IntN(4) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if rng.IntN(8) == 0 {
		text = bom + text
	}
	return []byte(text)
}

// randomEdit is a change of a note, and the range of bytes that it may change.
type randomEdit struct {
	what    string
	splices []Splice
	err     error
	within  Span
}

func randomEdits(rng *rand.Rand, text []byte) []randomEdit {
	n := scanNote(text)
	ops := []Operation{OpAppend, OpPrepend, OpReplace, OpBefore, OpAfter}
	contents := []string{"new", "new\n", "- new", "\n\nnew\n\n", "# New\ntext", "```\nx\n```", "|1|2|", "", "a\nb\nc\n", "```\nopen"}
	var out []randomEdit
	sections := n.Sections(text)
	if len(sections) > 0 {
		s := sections[rng.IntN(len(sections))]
		e := PartEdit{ops[rng.IntN(5)], contents[rng.IntN(len(contents))], false}
		if at, err := FindSection(sections, s.Name()); err == nil {
			splices, err := EditSection(ctx, text, s.Name(), e)
			within := sections[at].Span
			switch e.Operation {
			case OpBefore:
				within.End = within.Start
			case OpAfter:
				within.Start = within.End
			default:
				within.Start = sections[at].Body.Start
			}
			out = append(out, randomEdit{fmt.Sprintf("%s %q %q", e.Operation, s.Name(), e.Content), splices, err, within})
		}
	}
	if len(n.BlockIDs) > 0 {
		id := n.BlockIDs[rng.IntN(len(n.BlockIDs))]
		e := PartEdit{ops[rng.IntN(3)], contents[rng.IntN(len(contents))], false}
		if p, err := n.FindBlock(text, id.ID); err == nil {
			splices, err := EditBlock(ctx, text, id.ID, e)
			out = append(out, randomEdit{fmt.Sprintf("%s ^%s %q", e.Operation, id.ID, e.Content), splices, err, p.Content})
		}
	}
	fm := n.FrontMatter
	values := []any{"v", 12, true, nil, []any{"p", 2}, "a: b", "2024-02-03", map[string]any{"m": 1}}
	v := values[rng.IntN(len(values))]
	splices, err := SetProperty(text, "k", v)
	whole := Span{Start: fm.YAML.Start, End: fm.YAML.End}
	if !fm.Found {
		whole = Span{Start: fm.Body, End: fm.Body}
	}
	out = append(out, randomEdit{fmt.Sprintf("set k %v", v), splices, err, whole})
	splices, err = RemoveProperty(text, "list")
	out = append(out, randomEdit{"remove list", splices, err, whole})
	splices, err = RenameProperty(text, "k", "key two")
	out = append(out, randomEdit{"rename k", splices, err, whole})
	splices, err = AddToProperty(text, "list", "y z", false)
	out = append(out, randomEdit{"add to list", splices, err, whole})
	return out
}

// An edit of a part of a note leaves every byte outside the part unchanged.
func TestPartsLeaveTheRest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	done, refused, notes := 0, 0, stress.N(10_000)
	for range notes {
		text := randomNote(rng)
		for _, e := range randomEdits(rng, text) {
			if e.err != nil {
				if !isRefusal(e.err) {
					t.Fatalf("%s in %q: %v", e.what, text, e.err)
				}
				refused++
				continue
			}
			out, err := ApplySplices(text, e.splices)
			if err != nil {
				t.Fatalf("%s in %q: %v", e.what, text, err)
			}
			tail := text[e.within.End:]
			if !bytes.HasPrefix(out, text[:e.within.Start]) || !bytes.HasSuffix(out, tail) || len(out) < e.within.Start+len(tail) {
				t.Fatalf("%s in %q changed bytes outside %v: %q", e.what, text, e.within, out)
			}
			done++
		}
		splices, err := RenameTag(ctx, text, "tag", "renamed")
		if err != nil {
			if !isRefusal(err) {
				t.Fatal(err)
			}
			refused++
			continue
		}
		out, err := ApplySplices(text, splices)
		if err != nil || !bytes.Equal(bytes.ReplaceAll(out, []byte("renamed"), []byte("tag")), text) {
			t.Fatalf("rename of a tag in %q: %q, %v", text, out, err)
		}
		done++
	}
	if done < 4*notes {
		t.Errorf("only %d changes made", done)
	}
	t.Logf("%d changes, %d refused", done, refused)
}

func isRefusal(err error) bool {
	for _, e := range []error{ErrStructure, ErrUnsafeSplice, ErrNotMapping, ErrNotMergeable} {
		if errors.Is(err, e) {
			return true
		}
	}
	_, invalid := errors.AsType[*value.SyntaxError](err)
	return invalid
}

// Binary search finds the same block for an id as checking all blocks.
func TestPartsAgree(t *testing.T) {
	compared := 0
	for seed := range uint64(stress.N(20_000)) {
		rng := stress.Rand(seed)
		text := randomNote(rng)
		for range rng.IntN(4) {
			text = append(text, randomNote(rng)...)
		}
		n := scanNote(text)
		for _, id := range n.BlockIDs {
			got, ok := n.part(text, id)
			at := slices.IndexFunc(n.Blocks, func(b Block) bool { return b.Span.Start <= id.Span.Start && id.Span.End <= b.Span.End })
			if at < 0 {
				if ok {
					t.Fatalf("seed %d: ^%s has a block:\n%s", seed, id.ID, text)
				}
				continue
			}
			if !ok || got.Alone {
				continue
			}
			want := n.Blocks[at].Span
			for _, it := range n.Items {
				if it.Span.Start <= id.Span.Start && id.Span.End <= it.Span.End && it.Span.Len() <= want.Len() {
					want = it.Span
				}
			}
			if compared++; got.Span != want {
				t.Fatalf("seed %d: ^%s is in %v, not %v:\n%s", seed, id.ID, got.Span, want, text)
			}
		}
	}
	if compared == 0 {
		t.Fatal("nothing was compared")
	}
	t.Logf("%d ids in a block compared", compared)
}
