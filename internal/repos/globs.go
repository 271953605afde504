package repos

import (
	"strings"

	"quarry/internal/glob"
	"quarry/internal/remote"
)

// globsQuery is a condition that every path that passes the globs meets, or nil
// if there is no simple one. A glob is anchored at the searched folder, which
// may be above the repository, so only the end of the glob is used.
func globsQuery(globs []string, dialect glob.Dialect) remote.Query {
	var any []remote.Query
	for _, g := range globs {
		if strings.HasPrefix(g, "!") {
			if dialect == glob.Minimatch {
				return remote.Query{} // it turns the glob round
			}
			continue // an exclusion lets less pass
		}
		re, ok := globEnd(g)
		if !ok {
			return remote.Query{}
		}
		any = append(any, remote.PathMatch(re, dialect == glob.Plain))
	}
	if len(any) == 0 {
		return remote.Query{}
	}
	return remote.Or(any...)
}

// globEnd is an expression for the last part of a glob: *.go says that a name,
// of the file or of a folder above it, ends in .go.
func globEnd(g string) (string, bool) {
	g = strings.TrimSuffix(g, "/")
	last := g[strings.LastIndexByte(g, '/')+1:]
	if last == "" || strings.ContainsAny(last, `\[]{}()!@+|`) || strings.Contains(g, "{") && strings.Contains(g, "/") {
		return "", false
	}
	var b strings.Builder
	b.WriteString("(^|/)")
	for _, r := range last {
		switch r {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		default:
			b.WriteString(remote.QuoteRE(string(r)))
		}
	}
	return b.String() + "(/|$)", true
}
