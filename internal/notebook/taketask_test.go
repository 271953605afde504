package notebook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/notebook"
)

func TestTakeTasks(t *testing.T) {
	files := []string{
		"Atlas.md", "# Atlas\n\n## Tasks\n\n- [ ] plan\n\n## Notes\n\ntext\n",
		"m/1.md", "---\nproject: Atlas\n---\ntext\n- [ ] one 📅 2026-01-02\n  - [x] part\n    more\n\n  its own\n- [ ] two\n",
		"m/2.md", "---\nproject: Atlas\n---\r\n* parent\r\n\t* [ ] three [[Atlas]]\r\n\t\t* [ ] within\r\n* [x] over\r\n",
		"m/3.md", "---\nproject: Atlas\n---\n> - [ ] quoted\n\n- [ ] named ^id\n- [ ] [near](4.md)\n- [ ] note[^1]\n- [ ] own [[#Head]]\n\n# Head\n",
		"m/4.md", "---\nproject: Atlas\n---\ntext\n- [ ] line\n---\n",
		"m/5.md", "- [ ] of another\n",
		"m/6.md", "---\nproject: Atlas\n---\n1. [ ] last",
	}
	w := newWorld(t, files...)
	read := func() string {
		var all strings.Builder
		for i := 0; i < len(files); i += 2 {
			text, err := os.ReadFile(filepath.Join(w.dir, files[i]))
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString("<" + files[i] + ">" + strings.TrimPrefix(string(text), "---\nproject: Atlas\n---\n"))
		}
		return all.String()
	}
	before := read()
	take := func(path string, to notebook.Target, create, dry bool) (summary, warnings, undo string, err error) {
		c, err := w.book.TakeTasks(t.Context(), path, to, "property:project=Atlas task:todo", create, notebook.Options{DryRun: dry})
		if err != nil {
			return "", "", "", err
		}
		return c.Summary, strings.Join(c.Warnings, "\n"), c.ID, nil
	}
	if _, _, _, err := take("Atlas", notebook.Target{Heading: "Tasks"}, false, true); err != nil || read() != before {
		t.Fatal("dry run:", err, read())
	}
	said, warned, id, err := take("Atlas", notebook.Target{Heading: "Tasks"}, false, false)
	if err != nil || said != `moved 4 tasks from 3 notes to section "Tasks" of Atlas.md` {
		t.Fatal(said, err)
	}
	for _, want := range []string{"1 task not moved (in a quote): m/3.md:4", "1 task not moved (links may name its block id): m/3.md:6",
		"2 tasks not moved (a link in it would lead elsewhere): m/3.md:7, m/3.md:9", "1 task not moved (it refers to lines elsewhere in its note): m/3.md:8",
		"1 task not moved (headings would change): m/4.md:5", "1 task that the filters don't select moved with those they are nested in: m/1.md:6\n"} {
		if !strings.Contains(warned, want) {
			t.Errorf("%q is not in\n%s", want, warned)
		}
	}
	got := read()
	for _, want := range []string{
		"<Atlas.md># Atlas\n\n## Tasks\n\n- [ ] plan\n- [ ] one 📅 2026-01-02\n  - [x] part\n    more\n\n  its own\n- [ ] two\n* [ ] three [[Atlas]]\n\t* [ ] within\n1. [ ] last\n\n## Notes\n\ntext\n<",
		"<m/1.md>text\n<", "<m/2.md>---\nproject: Atlas\n---\r\n* parent\r\n* [x] over\r\n<", "<m/5.md>- [ ] of another\n<m/6.md>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%q", want, got)
		}
	}
	if _, err := w.ws.Undo(t.Context(), id, nil); err != nil || read() != before {
		t.Fatalf("undo: %v\n%q\n%q", err, read(), before)
	}
	if _, _, _, err := take("m/5", notebook.Target{Heading: "Todo"}, false, false); err == nil {
		t.Error("a missing heading is no error")
	}
	if _, _, _, err := take("m/5", notebook.Target{Heading: "Todo"}, true, false); err != nil || !strings.Contains(read(), "<m/5.md>- [ ] of another\n# Todo\n- [ ] one") {
		t.Errorf("create: %v\n%q", err, read())
	}
	if _, _, _, err := take("m/5", notebook.Target{Block: "x"}, false, false); err == nil {
		t.Error("tasks move to a block")
	}
	if c, err := w.book.TakeTasks(t.Context(), "m/1.md", notebook.Target{}, "task:todo path:m/3", false, notebook.Options{}); err == nil {
		t.Errorf("tasks that have to stay move: %s", c.Summary)
	}
}
