package notebook_test

import (
	"strings"
	"testing"

	"quarry/internal/notebook"
)

// bases are examples according to Obsidian's documentation, with the rows that they
// should have.
var bases = []struct {
	name, base, view string
	want             string // rows: paths, or paths with cells
	says             string // the unsupported parts that the answer reports, or the error
}{
	{"no filters", "views:\n  - type: table\n    name: All\n", "", "Books/Dune.md Books/Emma.md Books/Old/Iliad.md Books/Ulysses.md Index.md People/Frank Herbert.md People/Jane Austen.md Plan.canvas b.base cover.png", ""},
	{"one statement", "filters: 'file.hasTag(\"book\")'\n", "", "Books/Dune.md Books/Emma.md Books/Old/Iliad.md Books/Ulysses.md", ""},
	{"nested tag", "filters: file.hasTag(\"scifi\")\n", "", "Books/Dune.md", ""},
	{"several tags are alternatives", "filters:\n  and:\n    - file.hasTag(\"owned\", \"#scifi\")\n", "", "Books/Dune.md", ""},
	{"extension", "filters: file.ext == \"png\"\n", "", "cover.png", ""},
	{"folder and those below", "filters: file.inFolder(\"Books\")\n", "", "Books/Dune.md Books/Emma.md Books/Old/Iliad.md Books/Ulysses.md", ""},
	{"folder alone", "filters:\n  and:\n    - file.folder == \"Books\"\n    - rating >= 4\n", "", "Books/Dune.md Books/Emma.md", ""},
	{"or within and", "filters:\n  and:\n    - file.hasTag(\"book\")\n    - or:\n        - rating > 4\n        - status == \"reading\"\n", "", "Books/Dune.md Books/Emma.md", ""},
	{"not is none of them", "filters:\n  and:\n    - file.hasTag(\"book\")\n    - not:\n        - rating > 4\n        - status == \"reading\"\n", "", "Books/Old/Iliad.md Books/Ulysses.md", ""},
	{"letter case counts", "filters: 'status == \"done\"'\n", "", "Books/Dune.md", ""},
	{"unequal includes those without", "filters:\n  and: ['status != \"done\"', 'file.inFolder(\"Books\")']\n", "", "Books/Emma.md Books/Old/Iliad.md Books/Ulysses.md", ""},
	{"empty and not", "filters: '!status.isEmpty() && note.genres.isEmpty()'\n", "", "Books/Dune.md", ""},
	{"list contains", "filters: 'genres.contains(\"novel\") && !genres.containsAny(\"romance\", \"x\")'\n", "", "Books/Ulysses.md", ""},
	{"an element, not a part of one", "filters: 'genres.contains(\"nov\")'\n", "", "", ""},
	{"part of a text", "filters: 'file.name.contains(\"mm\") || file.path.startsWith(\"People/F\")'\n", "", "Books/Emma.md People/Frank Herbert.md", ""},
	{"dates", "filters: 'finished > date(\"2024-01-01\")'\n", "", "Books/Dune.md", ""},
	{"date arithmetic", "filters: 'finished > date(\"2024-04-01\") - \"2 months\" && finished < today()'\n", "", "Books/Dune.md", ""},
	{"links to", "filters: file.hasLink(\"Index\")\n", "", "Books/Dune.md Books/Ulysses.md Plan.canvas", ""},
	{"links are equal if they lead to one file", "filters: 'author == link(\"Jane Austen\")'\n", "", "Books/Emma.md", ""},
	{"truth of a property", "filters: lent\n", "", "Books/Old/Iliad.md", ""},
	{"columns, sort, limit", "filters: file.hasTag(\"book\")\nviews:\n  - type: table\n    name: Best\n    order: [file.name, note.rating, status]\n    sort:\n      - {property: rating, direction: DESC}\n    limit: 2\n", "Best", "Books/Dune.md:Dune.md,5,done Books/Emma.md:Emma.md,4,reading", "2 more rows beyond its limit"},
	{"the second view, with filters of its own", "filters: file.hasTag(\"book\")\nviews:\n  - {type: table, name: A}\n  - type: cards\n    name: Reading list\n    filters: {and: ['status == \"reading\"']}\n    order: [author, genres]\n", "Reading list", "Books/Emma.md:[[People/Jane Austen|Jane]],novel, romance", ""},
	{"group", "filters: 'rating > 0'\nviews:\n  - type: table\n    name: G\n    groupBy: {property: status, direction: ASC}\n    sort: [{property: file.name, direction: DESC}]\n    order: [pages]\n", "G", "Books/Ulysses.md: Books/Dune.md:612 Books/Emma.md:474", ""},
	{"formulas", "filters: 'pages > 500'\nformulas:\n  perDay: '(pages / 30).round(1)'\nviews:\n  - type: table\n    name: F\n    order: [formula.perDay, pages]\n    sort: [{property: formula.perDay, direction: ASC}]\n", "F", "Books/Dune.md:612", "column formula.perDay, sort formula.perDay"},
	{"a formula in a filter", "filters: 'formula.x > 1'\nformulas: {x: 'pages'}\n", "", "", "error: \"formula.x > 1\" is not supported"},
	{"a property that the note has", "filters: 'file.hasProperty(\"status\") && !status'\n", "", "Books/Old/Iliad.md", ""},
	{"tags and links as lists", "filters:\n  or: ['file.tags.contains(\"#owned\")', 'file.links.contains(link(\"Emma\"))']\n", "", "Books/Dune.md People/Jane Austen.md", ""},
	{"size and null", "filters: 'file.size > 0 && note[\"status\"] == null && file.inFolder(\"Books\")'\n", "", "Books/Old/Iliad.md", ""},
	{"keys of other views", "filters: 'rating == 5'\nsummaries: {x: 'values.mean()'}\nviews:\n  - {type: map, name: M, order: [rating], coordinates: x}\n", "", "Books/Dune.md:5", "summaries, coordinates"},
	{"this, not named", "filters: file.hasLink(this.file)\n", "", "", "error: write base:\"File.base#View@Note\""},
	{"this, in a note", "filters: 'file.hasLink(this) && file.name != this.file.name'\nviews: [{type: table, name: V}]\n", "V@Index", "Books/Dune.md Books/Ulysses.md Plan.canvas", ""},
	{"this, in a list or alone", "filters: list(author).contains(this)\nviews: [{type: table, name: V}]\n", "V@Jane", "Books/Emma.md", ""},
	{"this, a property", "filters: genres.containsAny(this.genres)\nviews: [{type: table, name: V}]\n", "V@Emma", "", "error: this.genres is not supported"},
	{"a note that is missing", "views: [{type: table, name: V}]\n", "V@Emmma", "", "error: no note or file \"Emmma\""},
	{"a list of one", "filters: 'list(lent).contains(true) || list(note.status).containsAll(\"done\")'\n", "", "Books/Dune.md Books/Old/Iliad.md", ""},
	{"other functions of list", "filters: list(genres).unique().length > 1\n", "", "", "error: the function unique() is not supported"},
	{"a link is an element, its text no part", "filters: 'author.contains(\"Frank Herbert\") || author.contains(\"Jane\")'\n", "", "Books/Dune.md", ""},
	{"backlinks", "filters: file.backlinks.length > 1\n", "", "", "error: file.backlinks is not supported"},
	{"a regular expression", "filters: '/a/.matches(file.name)'\n", "", "", "error: \"/a/"},
	{"a view that is missing", "views: [{type: table, name: A}]\n", "B", "", "error: has no view \"B\"; it has A"},
	{"not YAML", "filters: [\n", "", "", "error: is not a base"},
}

func TestBases(t *testing.T) {
	for _, c := range bases {
		w := newWorld(t, append([]string{"b.base", c.base}, library...)...)
		query := "base:b"
		if c.view != "" {
			query = `base:"b.base#` + c.view + `"`
		}
		table, err := w.book.Table(t.Context(), notebook.TableQuery{Query: query})
		if err != nil {
			if says, ok := strings.CutPrefix(c.says, "error: "); !ok || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want %q", c.name, err, c.says)
			}
			continue
		}
		var got []string
		for _, r := range table.Rows {
			row := r.Path
			if strings.Contains(c.want, ":") {
				row += ":" + strings.Join(r.Cells, ",")
			}
			got = append(got, row)
		}
		if rows, says := strings.Join(got, " "), strings.Join(table.Unsupported, ", "); rows != c.want || says != c.says {
			t.Errorf("%s:\n got %q, unsupported %q\nwant %q, unsupported %q", c.name, rows, says, c.want, c.says)
		}
	}
}
