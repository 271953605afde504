package quarry

import (
	"slices"
	"sort"
	"strings"

	"quarry/internal/zoekt"
)

// part is repositories that are asked about together, or a checkout.
type part struct {
	repos    []*zoekt.Repo
	checkout *checkout
}

// parts divides what lies below a place, in path order.
func (r *remote) parts(l *listing, at *place) []part {
	if at.checkout != nil {
		return []part{{checkout: at.checkout}}
	}
	if at.repo != nil {
		return []part{{repos: []*zoekt.Repo{at.repo}}}
	}
	below := func(name string) bool { return at.path == "" || strings.HasPrefix(name, at.path+"/") }
	var list []part
	for i := range l.repos {
		if p := &l.repos[i]; below(p.Name) && !r.isCheckout(p.Name) {
			list = append(list, part{repos: []*zoekt.Repo{p}})
		}
	}
	for _, c := range r.checkouts {
		if below(c.repo) {
			list = append(list, part{checkout: c})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return comparePaths(list[i].name(), list[j].name()) < 0 })
	return joinParts(list)
}

func (p *part) name() string {
	if p.checkout != nil {
		return p.checkout.repo
	}
	return p.repos[0].Name
}

func (r *remote) isCheckout(repo string) bool {
	return slices.ContainsFunc(r.checkouts, func(c *checkout) bool { return c.repo == repo })
}

// joinParts puts neighbours together until they have enough files, and those
// whose names nest, since their files mix in path order.
func joinParts(list []part) []part {
	var out []part
	files, room := 0, firstFiles
	for _, p := range list {
		last := len(out) - 1
		if last >= 0 && p.checkout == nil && out[last].checkout == nil {
			before := out[last].repos
			nested := strings.HasPrefix(p.name(), before[len(before)-1].Name+"/") || strings.HasPrefix(p.name(), before[0].Name+"/")
			if nested || files+p.repos[0].Files <= room {
				out[last].repos = append(before, p.repos...)
				files += p.repos[0].Files
				continue
			}
			room = min(8*room, mostFiles)
		}
		files = 0
		if p.checkout == nil {
			files = p.repos[0].Files
		}
		out = append(out, p)
	}
	return out
}

// nested are the repositories whose names lie below that of another.
func (r *remote) nested(l *listing, name string) []string {
	var out []string
	for _, c := range r.checkouts {
		if strings.HasPrefix(c.repo, name+"/") {
			out = append(out, c.repo)
		}
	}
	i, _ := slices.BinarySearchFunc(l.repos, name, func(p zoekt.Repo, name string) int { return comparePaths(p.Name, name) })
	for ; i < len(l.repos) && (l.repos[i].Name == name || strings.HasPrefix(l.repos[i].Name, name+"/")); i++ {
		if l.repos[i].Name != name {
			out = append(out, l.repos[i].Name)
		}
	}
	return out
}
