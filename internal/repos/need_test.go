package repos

import (
	"reflect"
	"testing"

	"quarry/internal/glob"
	"quarry/internal/remote"
	"quarry/match"
)

// TestNeedQuery: a server is asked for what it compares as we do, and for
// nothing else; what is left out makes the query weaker, never stronger.
func TestNeedQuery(t *testing.T) {
	plain := func(s string) remote.Query { return remote.Text(s, false) }
	fold := func(s string) remote.Query { return remote.Text(s, true) }
	oneOf := func(texts ...match.NeedText) match.Need { return match.Need{Op: match.NeedOneOf, Texts: texts} }
	text := func(s string) match.Need { return oneOf(match.NeedText{Text: s}) }
	anyCase := func(s string) match.Need { return oneOf(match.NeedText{Text: s, Fold: true}) }
	for _, c := range []struct {
		name string
		need match.Need
		want remote.Query
	}{
		{"nothing", match.Need{}, remote.Query{}},
		{"never", match.Need{Op: match.NeedNever}, remote.None()},
		{"a text", text("alpha"), plain("alpha")},
		{"in any case", anyCase("beta"), fold("beta")},
		{"too short to be indexed", text("ab"), remote.Query{}},
		{"one of several", oneOf(match.NeedText{Text: "alpha"}, match.NeedText{Text: "beta", Fold: true}), remote.Or(plain("alpha"), fold("beta"))},
		{"one of several is too short", oneOf(match.NeedText{Text: "alpha"}, match.NeedText{Text: "x"}), remote.Query{}},
		{"all", match.Need{Op: match.NeedAll, Subs: []match.Need{text("alpha"), text("beta"), text("x")}}, remote.And(plain("alpha"), plain("beta"))},
		{"either", match.Need{Op: match.NeedEither, Subs: []match.Need{text("alpha"), text("beta")}}, remote.Or(plain("alpha"), plain("beta"))},
		{"a letter that Windows-1252 writes otherwise", text("naïveté"), plain("vet")},
		{"with one that it doesn't have", text("naïve→"), plain("naïve→")},
		{"the long s", anyCase("task"), remote.Or(fold("task"), fold("taſk"))},
		{"a case of its own", text("task"), plain("task")},
		{"many of them", anyCase("assessors"), remote.Or(fold("sessor"), fold("sesſor"), fold("seſsor"), fold("seſſor"),
			fold("ſessor"), fold("ſesſor"), fold("ſeſsor"), fold("ſeſſor"))},
		{"nothing but them", anyCase("ssss"), remote.Or(fold("sss"), fold("ssſ"), fold("sſs"), fold("sſſ"),
			fold("ſss"), fold("ſsſ"), fold("ſſs"), fold("ſſſ"))},
		{"a letter with two lower cases", anyCase("abcσdef"), remote.And(fold("abc"), fold("def"))},
		{"no UTF-8", text("abc\uFFFDdef"), remote.And(plain("abc"), plain("def"))},
	} {
		if got := needQuery(c.need); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// TestGlobsQuery: only what a glob ends in can be told by the path in the
// repository, and only where every glob says something.
func TestGlobsQuery(t *testing.T) {
	path := func(re string) remote.Query { return remote.PathMatch(re, false) }
	for _, c := range []struct {
		name    string
		globs   []string
		dialect glob.Dialect
		want    remote.Query
	}{
		{"none", nil, glob.Gitignore, remote.Query{}},
		{"a name", []string{"*.go"}, glob.Gitignore, path(`(^|/).*\.go(/|$)`)},
		{"two", []string{"*.go", "?.md"}, glob.Gitignore, remote.Or(path(`(^|/).*\.go(/|$)`), path(`(^|/).\.md(/|$)`))},
		{"what stands above counts not", []string{"/app/src/"}, glob.Gitignore, path(`(^|/)src(/|$)`)},
		{"an exclusion lets less pass", []string{"*.go", "!x.go"}, glob.Gitignore, path(`(^|/).*\.go(/|$)`)},
		{"only exclusions", []string{"!x.go"}, glob.Gitignore, remote.Query{}},
		{"minimatch turns the glob round", []string{"*.go", "!x.go"}, glob.Minimatch, remote.Query{}},
		{"the plain dialect ignores case", []string{"*.md"}, glob.Plain, remote.PathMatch(`(^|/).*\.md(/|$)`, true)},
		{"a set", []string{"[ab].go"}, glob.Gitignore, remote.Query{}},
		{"one that says nothing", []string{"*.go", "*.{md,txt}"}, glob.Gitignore, remote.Query{}},
		{"alternatives above the name", []string{"{a,b/c}/x.go"}, glob.Gitignore, remote.Query{}},
	} {
		if got := globsQuery(c.globs, c.dialect); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v\nwant %+v", c.name, got, c.want)
		}
	}
}
