package notebook_test

import (
	"strconv"
	"strings"
	"testing"

	"quarry/fault"
	"quarry/internal/notebook"
)

// library contains the notes for the tables of this file.
var library = []string{
	"Books/Dune.md", "---\ntags: [book, scifi/classic]\nauthor: \"[[Frank Herbert]]\"\nrating: 5\npages: 612\nstatus: done\nfinished: 2024-03-01\n---\n#owned see [[Index]]\n",
	"Books/Emma.md", "---\ntags: [book]\nauthor: \"[[People/Jane Austen|Jane]]\"\nrating: 4\npages: 474\nstatus: reading\nstarted: 2024-05-20\ngenres: [novel, romance]\n---\n",
	"Books/Ulysses.md", "---\ntags: book\nrating: 2\nstatus: Done\nfinished: 2023-11-30\ngenres: [novel]\n---\n[[Index]]\n",
	"Books/Old/Iliad.md", "---\ntags: [book]\nstatus: \ngenres: []\nlent: true\n---\n",
	"People/Jane Austen.md", "---\nborn: 1775\naliases: [Jane]\n---\n[[Emma]]\n",
	"People/Frank Herbert.md", "---\nborn: 1920\n---\n",
	"Index.md", "[[Dune]] [[Jane Austen]]\n",
	"Plan.canvas", `{"nodes":[{"type":"file","file":"Index.md"}]}`,
	"cover.png", "\x89PNG\x00\x00",
}

func TestTables(t *testing.T) {
	w := newWorld(t, append([]string{"b.base", "filters: 'rating > 2'\n", "Inline.md", "rating:: 9\nstatus:: | odd\n- [ ] a\n- [x] b\n",
		"Columns.md", "---\nsize: big\nmodified: 2020-01-02\ntags: one\n---\nname:: Its name\nlinks:: many\n#two [[Index]]\n"}, library...)...)
	for _, c := range []struct {
		q    notebook.TableQuery
		want string
	}{
		{notebook.TableQuery{Query: "has:rating", Columns: []string{"rating"}, Sort: []string{"-rating"}}, "Inline.md:9 Books/Dune.md:5 Books/Emma.md:4 Books/Ulysses.md:2"},
		{notebook.TableQuery{Query: "tag:book", Columns: []string{"path", "genres", "tags"}, Sort: []string{"genres", "-pages"}}, "Books/Ulysses.md:novel,#book Books/Emma.md:novel, romance,#book Books/Dune.md:,#book, #scifi/classic, #owned Books/Old/Iliad.md:,#book"},
		{notebook.TableQuery{Query: "base:b -tag:scifi", Columns: []string{"links"}}, "Books/Emma.md:People/Jane Austen"},
		{notebook.TableQuery{Query: "has:tasks", Columns: []string{"tasks", "status", "folder"}}, "Inline.md:1 open, 1 done,| odd,"},
		{notebook.TableQuery{Query: "has:rating path:Books", Group: "status", Sort: []string{"-rating"}}, "Books/Dune.md: Books/Ulysses.md: Books/Emma.md:"},
		{notebook.TableQuery{Query: "path:Columns.md", Columns: []string{"size", "modified", "name", "links", "folder"}}, "Columns.md:big,2020-01-02,Its name,many,"},
		{notebook.TableQuery{Query: "path:Columns.md", Columns: []string{"property:tags", "note.size", "file.size", "file.name", "File.Folder", "tags"}}, "Columns.md:one,big,93,Columns.md,,#one, #two"},
		{notebook.TableQuery{Query: "path:Columns.md OR path:Emma", Sort: []string{"-name"}, Columns: []string{"name"}}, "Columns.md:Its name Books/Emma.md:Emma"},
	} {
		table, err := w.book.Table(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range table.Rows {
			got = append(got, r.Path+":"+strings.Join(r.Cells, ","))
		}
		if rows := strings.Join(got, " "); rows != c.want {
			t.Errorf("%+v:\n got %q\nwant %q", c.q, rows, c.want)
		}
	}
	for _, c := range []struct{ columns, sort, group, want string }{
		{"rating,pages", "pages", "author", ""}, {"size,pagse,file.nam", "-authr,rating", "grup", "size,pagse,file.nam,grup,authr"}, {"lent", "", "", "lent"},
	} {
		table, err := w.book.Table(t.Context(), notebook.TableQuery{Query: "has:rating path:Books", Columns: strings.Split(c.columns, ","), Sort: strings.Fields(strings.ReplaceAll(c.sort, ",", " ")), Group: c.group})
		if err != nil || strings.Join(table.Empty, ",") != c.want {
			t.Errorf("%+v: empty are %q, %v", c, table.Empty, err)
		}
	}
	if _, err := w.book.Table(t.Context(), notebook.TableQuery{Query: "words"}); err == nil {
		t.Error("words make no table")
	}
}

// A group is in one piece: values that are equal but for their form share it.
func TestGroups(t *testing.T) {
	w := newWorld(t, "a.md", "---\nv: 1.10\ns: Done\nl: [1, x]\n---\n", "b.md", "---\nv: 1.1\ns: done\nl: [1, y]\n---\n", "c.md", "---\nv: 1.10\ns: Done\nl: [1, x]\n---\n")
	for group, want := range map[string]string{"v": "a:1.10 b:1.10 c:1.10", "s": "a:Done b:Done c:Done", "l": "a:1, x c:1, x b:1, y"} {
		table, err := w.book.Table(t.Context(), notebook.TableQuery{Query: "has:v", Group: group})
		var got []string
		for _, r := range table.Rows {
			got = append(got, strings.TrimSuffix(r.Path, ".md")+":"+r.Group)
		}
		if rows := strings.Join(got, " "); err != nil || rows != want {
			t.Errorf("%s: %q, %v; want %q", group, rows, err, want)
		}
	}
}

func TestTasks(t *testing.T) {
	text := "---\nstate: on\n---\n- [ ] call 📅 2024-05-01\n* [x] wrote [completion:: 2024-04-02]\r\n- [ ] call 📅 2024-05-01\n```\n- [ ] code\n```\n> 1. [-] no\n- [ ] free\n"
	w := newWorld(t, "P/a.md", text, "b.md", "- [ ] other (due:: 2024-06-01) #x\n")
	for _, c := range []struct{ query, want string }{
		{"has:tasks", "P/a.md:4 P/a.md:5 P/a.md:6 P/a.md:11 b.md:1"},
		{"task:todo property:state=on", "P/a.md:4 P/a.md:6 P/a.md:11"},
		{"task:due<2024-06", "P/a.md:4 P/a.md:6"},
		{"task:due", "P/a.md:4 P/a.md:6 b.md:1"},
		{"-task:due task:todo", "P/a.md:11"},
		{"task:done>=2024-04-01", "P/a.md:5"},
		{"task:done OR path:b", "P/a.md:5 b.md:1"},
	} {
		tasks, err := w.book.Tasks(t.Context(), c.query)
		var got []string
		for _, task := range tasks {
			got = append(got, task.Path+":"+strconv.Itoa(task.Line))
		}
		if list := strings.Join(got, " "); err != nil || list != c.want {
			t.Errorf("%s: %q, %v; want %q", c.query, list, err, c.want)
		}
	}
	for _, c := range []struct {
		text, want string
		line       int
		done       bool
	}{
		{"free", "- [x] free", 11, true}, {"- [ ] free", "- [x] free", 0, true}, {"call 📅 2024-05-01", "- [x] call 📅 2024-05-01", 6, true},
		{"wrote [completion:: 2024-04-02]", "* [ ] wrote [completion:: 2024-04-02]\r", 0, false}, {"no", "> 1. [x] no", 0, true},
	} {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			if strings.HasSuffix(strings.TrimSpace(l), strings.TrimSpace(c.want[strings.Index(c.want, "] ")+2:])) && (c.line == 0 || i+1 == c.line) {
				lines[i] = c.want
			}
		}
		w.changes(func() error {
			_, err := w.book.CheckTask(t.Context(), "P/a", c.text, c.line, c.done, notebook.Options{})
			return err
		}, map[string]string{"P/a.md": strings.Join(lines, "\n"), "b.md": "- [ ] other (due:: 2024-06-01) #x\n"})
	}
	for _, c := range []struct {
		text string
		line int
		says string
	}{{"call 📅 2024-05-01", 0, "lines 4, 6"}, {"free", 4, "line 4 of P/a.md has - [ ] call"}, {"gone", 0, "no task"}, {"", 4, "by its text"}, {"wrote [completion:: 2024-04-02]", 0, "done already"}, {"code", 0, "no task"}} {
		if _, err := w.book.CheckTask(t.Context(), "P/a.md", c.text, c.line, true, notebook.Options{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.text, err, c.says)
		}
	}
	if _, err := w.book.CheckTask(t.Context(), "b.md", "Other", 0, true, notebook.Options{}); !strings.Contains(fault.HintOf(err), "(due:: 2024-06-01) #x") {
		t.Errorf("a part of a task's text: %v, %s", err, fault.HintOf(err))
	}
}
