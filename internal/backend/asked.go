package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"quarry/internal/owner"
	"quarry/internal/policy"
	"quarry/internal/progress"
	"quarry/internal/rootfs"
	"quarry/internal/searcher"
)

// asked answers the queries of other processes while this process owns the index. Each
// process has its own view of the folder. Paths that a view denies are never opened,
// counted or named.
type asked struct {
	folder *Folder
	served sync.WaitGroup

	mu   sync.Mutex
	kept map[string]*viewed // by key of the view
}

// viewed is the folder as seen through a view, with the number of its current requests.
type viewed struct {
	*searcher.Folder
	users int
}

// maxViews limits the views kept between requests.
const maxViews = 16

// serve answers requests until the member is closed.
func (a *asked) serve(requests <-chan *owner.Request) {
	a.served.Go(func() {
		for r := range requests {
			a.served.Go(func() { a.answer(r) })
		}
	})
}

// close waits for the requests in progress and closes the views. The member must have been
// closed before.
func (a *asked) close() {
	a.served.Wait()
	a.drop(0)
}

func (a *asked) answer(r *owner.Request) {
	seen, err := a.through(&r.View)
	if err != nil {
		r.Finish(nil, err)
		return
	}
	Answer(seen.Folder, r)
	a.mu.Lock()
	seen.users--
	a.mu.Unlock()
}

// Answer answers a query of another process. files must have the view of that process.
// Answer ends early if the client disconnects. A panic fails only this request, because
// the process may also serve its own agent.
func Answer(files *searcher.Folder, r *owner.Request) {
	ctx, cancel := context.WithCancel(progress.With(context.Background(), r.Progress))
	defer cancel()
	defer r.OnGone(cancel)()
	var result any
	var err error
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("failed unexpectedly: %v", p)
		}
		r.Finish(result, err)
	}()
	switch {
	case r.Find != nil:
		result, err = files.Find(ctx, *r.Find)
	case r.Code != nil:
		result, err = files.SearchCode(ctx, *r.Code)
	case r.Symbols != nil:
		result, err = files.Symbols(ctx, *r.Symbols)
	case r.Texts != nil:
		read, sum, failed := files.Fields(ctx, *r.Texts, r.Field)
		if err = failed; sum != nil {
			result = &owner.TextsAnswer{Read: read, Summary: *sum}
		}
	case r.Search != nil:
		result, err = files.SearchEach(ctx, *r.Search, r.File)
	default:
		err = errors.New("empty request")
	}
}

// through returns the folder as seen through a view, and increments its number of
// requests.
func (a *asked) through(v *owner.View) (*viewed, error) {
	key := v.Key()
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := a.kept[key]
	if seen == nil {
		files, err := a.folder.seenBy(v)
		if err != nil {
			return nil, err
		}
		a.drop(maxViews - 1)
		if a.kept == nil {
			a.kept = map[string]*viewed{}
		}
		seen = &viewed{Folder: files}
		a.kept[key] = seen
	}
	seen.users++
	return seen, nil
}

// drop closes unused views until no more than most views are left. a.mu must be held, unless
// nothing else uses a.
func (a *asked) drop(most int) {
	for key, seen := range a.kept {
		if len(a.kept) <= most {
			return
		}
		if seen.users == 0 {
			seen.Root.Close()
			delete(a.kept, key)
		}
	}
}

// seenBy returns the folder with the view of another process and the index of this one.
func (f *Folder) seenBy(v *owner.View) (*searcher.Folder, error) {
	rules, err := ParseRules(v.Rules)
	if err != nil {
		return nil, err
	}
	root, err := rootfs.Open(f.Dir(), &rootfs.Options{
		Rules: policy.Rules{Allow: v.Allow, Deny: v.Deny}, Trusted: v.Trusted, AllowAny: true, ReadOnly: true,
	})
	if err != nil {
		return nil, err
	}
	here, err := f.Root.Place()
	if there, errThere := root.Place(); err != nil || errThere != nil || here != there {
		return nil, errors.Join(rootfs.ErrReplaced, err, errThere, root.Close())
	}
	files := &searcher.Folder{Root: root, Rules: rules, Workers: f.Workers, Logger: f.Logger}
	files.Index = f.member.FilteredBy(owner.NewFilter(v, root, rules))
	return files, nil
}
