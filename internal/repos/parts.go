package repos

import (
	"slices"
	"sort"
	"strings"

	"quarry/internal/zoekt"
)

// Part is repositories that are asked about together, or a checkout.
type Part struct {
	Repos    []*zoekt.Repo
	Checkout string
}

// Files is how many the servers have of it.
func (p *Part) Files() (n int) {
	for _, repo := range p.Repos {
		n += repo.Files
	}
	return n
}

func (p *Part) name() string {
	if p.Checkout != "" {
		return p.Checkout
	}
	return p.Repos[0].Name
}

const (
	// Repositories are asked about in parts of so many files, the first small:
	// an answer that needs only the first few doesn't ask for all.
	firstFiles = 4 << 10
	mostFiles  = 200 << 10
)

// Parts divides what lies below a place, in path order.
func (q *Question) Parts(at *Place) []Part { return q.list.parts(at) }

func (l *Listing) parts(at *Place) []Part {
	if at.Checkout != "" {
		return []Part{{Checkout: at.Checkout}}
	}
	if at.Repo != nil {
		return []Part{{Repos: []*zoekt.Repo{at.Repo}}}
	}
	below := func(name string) bool { return at.Path == "" || strings.HasPrefix(name, at.Path+"/") }
	var list []Part
	for i := range l.Repos {
		if p := &l.Repos[i]; below(p.Name) && !slices.Contains(l.checkouts, p.Name) {
			list = append(list, Part{Repos: []*zoekt.Repo{p}})
		}
	}
	for _, name := range l.checkouts {
		if below(name) {
			list = append(list, Part{Checkout: name})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return comparePaths(list[i].name(), list[j].name()) < 0 })
	return joinParts(list)
}

// joinParts puts neighbours together until they have enough files, and those
// whose names nest, since their files mix in path order.
func joinParts(list []Part) []Part {
	var out []Part
	files, room := 0, firstFiles
	for _, p := range list {
		last := len(out) - 1
		if last >= 0 && p.Checkout == "" && out[last].Checkout == "" {
			before := out[last].Repos
			nested := strings.HasPrefix(p.name(), before[len(before)-1].Name+"/") || strings.HasPrefix(p.name(), before[0].Name+"/")
			if nested || files+p.Files() <= room {
				out[last].Repos = append(before, p.Repos...)
				files += p.Files()
				continue
			}
			room = min(8*room, mostFiles)
		}
		files = p.Files() // none of a checkout
		out = append(out, p)
	}
	return out
}

// nested are the repositories whose names lie below that of another.
func (l *Listing) nested(name string) []string {
	var out []string
	for _, checkout := range l.checkouts {
		if strings.HasPrefix(checkout, name+"/") {
			out = append(out, checkout)
		}
	}
	i, _ := slices.BinarySearchFunc(l.Repos, name, func(p zoekt.Repo, name string) int { return comparePaths(p.Name, name) })
	for ; i < len(l.Repos) && (l.Repos[i].Name == name || strings.HasPrefix(l.Repos[i].Name, name+"/")); i++ {
		if l.Repos[i].Name != name {
			out = append(out, l.Repos[i].Name)
		}
	}
	return out
}
