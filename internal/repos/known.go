package repos

import (
	"context"
	"sync"

	"quarry/internal/remote"
	"quarry/match"
)

// Known is what a server knows about a repository at one commit. In a checkout,
// a file with the same sum that isn't in Matches can't match.
type Known struct {
	Commit  string
	Sums    map[string]uint64 // of all its files, see Checksum
	Matches map[string]bool   // files that could match
}

// Checksum is that of a content in Known.Sums.
func Checksum(content []byte) uint64 { return remote.Checksum(content) }

// sums are the checksums of a repository's files at one commit.
type sums struct {
	mu     sync.Mutex
	commit string
	byPath map[string]uint64 // nil before the first
}

// Known asks the server of a checked-out repository what could match. It is nil
// if no server has the repository.
func (q *Question) Known(ctx context.Context, name string, need match.Need) (*Known, error) {
	repo := q.list.repo(name)
	needed := needQuery(need)
	if repo == nil || q.down[repo.Server] || needed.Trivial() {
		return nil, nil
	}
	byPath, err := q.tree.sumsOf(ctx, repo)
	if err != nil {
		return nil, err
	}
	docs, err := q.tree.client.Search(ctx, repo.Server, remote.NamesOnly(remote.And(remote.Head(), remote.In(name), needed)), false)
	if err != nil {
		return nil, err
	}
	k := &Known{Commit: repo.Commit, Sums: byPath, Matches: make(map[string]bool, len(docs))}
	for i := range docs {
		if docs[i].Commit != repo.Commit {
			return nil, nil // a newer commit than the checksums are of
		}
		k.Matches[docs[i].Path] = true
	}
	q.Named += len(docs)
	return k, nil
}

// sumsOf gives the checksums of a repository's files at the commit that is
// served.
func (t *Tree) sumsOf(ctx context.Context, repo *remote.Repo) (map[string]uint64, error) {
	t.mu.Lock()
	s := t.sums[repo.Name]
	if s == nil {
		s = &sums{}
		t.sums[repo.Name] = s
	}
	t.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byPath != nil && s.commit == repo.Commit {
		return s.byPath, nil
	}
	docs, err := t.client.Search(ctx, repo.Server, remote.NamesOnly(remote.And(remote.Head(), remote.In(repo.Name))), false)
	if err != nil {
		return nil, err
	}
	byPath := make(map[string]uint64, len(docs))
	for i := range docs {
		if docs[i].Commit == repo.Commit {
			byPath[docs[i].Path] = docs[i].Sum
		}
	}
	s.commit, s.byPath = repo.Commit, byPath
	return byPath, nil
}
