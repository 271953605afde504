package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"quarry"
	"quarry/search"
)

// The ways in which a question is answered.
const (
	ours = iota
	sourceBM25
	splitBM25
	allBM25
	numWays
)

var wayNames = [numWays]string{"Quarry", "BM25 over source", "the same, names split", "BM25 over all files"}

// judged is a question with the rank of the first right file for each way; -1 if it is not among
// the first ten.
type judged struct {
	asked
	at [numWays]int
}

// judgeKinds answers the questions in a file in each way. For each kind of question it prints how
// often a right file is first, among the first five and among the first ten. It also prints
// Quarry's lead with the 95 % interval from 2,000 samples of the repositories. trees has a checkout
// of each repository.
func judgeKinds(file, trees, split, kind string, misses bool) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	byRepo := map[string][]*judged{}
	var repos []string
	var all []*judged
	for lines := bufio.NewScanner(f); lines.Scan(); {
		j := &judged{}
		if err := json.Unmarshal(lines.Bytes(), &j.asked); err != nil {
			return err
		}
		if split != "" && j.Split != split || kind != "" && j.Kind != kind {
			continue
		}
		if byRepo[j.Repo] == nil {
			repos = append(repos, j.Repo)
		}
		byRepo[j.Repo] = append(byRepo[j.Repo], j)
		all = append(all, j)
	}
	for _, name := range repos {
		if err := answer(filepath.Join(trees, name), byRepo[name], misses); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	printKinds(all)
	return nil
}

func answer(tree string, list []*judged, misses bool) error {
	dir, err := os.MkdirTemp("", "index")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ws, err := quarry.Open(tree, &quarry.Options{Index: &quarry.IndexOptions{Dir: dir}})
	if err != nil {
		return err
	}
	defer ws.Close()
	ctx := context.Background()
	if err := ws.Index().Wait(ctx); err != nil {
		return err
	}
	source, err := readTexts(tree, 0, isSource, wordsOf)
	if err != nil {
		return err
	}
	split, err := readTexts(tree, 0, isSource, splitWords)
	if err != nil {
		return err
	}
	whole, err := readTexts(tree, 0, func(string) bool { return true }, wordsOf)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var failed error
	var mu sync.Mutex
	next := make(chan *judged)
	for range 2 {
		wg.Go(func() {
			for j := range next {
				r, err := ws.SearchCode(ctx, search.CodeQuery{Query: j.Query, Limit: 20})
				if err != nil {
					mu.Lock()
					failed = fmt.Errorf("%q: %w", j.Query, err)
					mu.Unlock()
					continue
				}
				var files []string
				for _, c := range r.Chunks {
					if !slices.Contains(files, c.Path) {
						files = append(files, c.Path)
					}
				}
				j.at[ours] = j.rank(files)
				for way, peer := range map[int]*bm25{sourceBM25: source, splitBM25: split, allBM25: whole} {
					files = files[:0:0]
					for _, s := range peer.best(j.Query, 20) {
						files = append(files, s.path)
					}
					j.at[way] = j.rank(files)
				}
				if misses && j.at[ours] != 0 {
					mu.Lock()
					fmt.Printf("%s, %s: %s\n     %v %v\n     %v\n", j.Repo, j.Kind, j.Query, j.Files, j.at, r.Chunks[0].Path)
					mu.Unlock()
				}
			}
		})
	}
	for _, j := range list {
		next <- j
	}
	close(next)
	wg.Wait()
	return failed
}

// rank returns the rank of the first right file among ten. For questions from headings, it ignores
// prose in every way, because the document itself contains the heading.
func (j *judged) rank(files []string) int {
	if j.Kind == "document" {
		files = slices.DeleteFunc(slices.Clone(files), isProse)
	}
	return slices.IndexFunc(files[:min(10, len(files))], func(p string) bool { return slices.Contains(j.Files, p) })
}

// splitWords returns the words in a text, and the parts of compound words.
func splitWords(text string) []string {
	var out []string
	start := 0
	flush := func(end int) {
		if end > start {
			out = append(out, strings.ToLower(text[start:end]))
		}
		start = end
	}
	lower := false
	for i, r := range text {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 0x80:
			lower = true
		case r >= 'A' && r <= 'Z':
			if lower {
				flush(i)
			}
			lower = false
		default:
			flush(i)
			start, lower = i+1, false
		}
	}
	flush(len(text))
	return out
}

func within(at, limit int) float64 {
	if at >= 0 && at < limit {
		return 1
	}
	return 0
}

func printKinds(all []*judged) {
	kinds := map[string][]*judged{}
	var order []string
	for _, j := range all {
		if kinds[j.Kind] == nil {
			order = append(order, j.Kind)
		}
		kinds[j.Kind] = append(kinds[j.Kind], j)
	}
	slices.Sort(order)
	for _, kind := range order {
		list := kinds[kind]
		fmt.Printf("%s: %d questions\n", kind, len(list))
		for way := range numWays {
			fmt.Printf("  %-22s", wayNames[way])
			for _, limit := range []int{1, 5, 10} {
				sum := 0.0
				for _, j := range list {
					sum += within(j.at[way], limit)
				}
				fmt.Printf(" %5.3f", sum/float64(len(list)))
				if way != ours {
					lo, hi := interval(list, way, limit)
					fmt.Printf(" (%+.3f to %+.3f)", lo, hi)
				}
			}
			fmt.Println()
		}
	}
}

// interval returns the 95 % interval of the lead over another way, from samples of the repositories
// with replacement.
func interval(list []*judged, way, limit int) (lo, hi float64) {
	type lead struct{ sum, n float64 }
	byRepo := map[string]*lead{}
	var repos []*lead
	for _, j := range list {
		if byRepo[j.Repo] == nil {
			byRepo[j.Repo] = &lead{}
			repos = append(repos, byRepo[j.Repo])
		}
		byRepo[j.Repo].sum += within(j.at[ours], limit) - within(j.at[way], limit)
		byRepo[j.Repo].n++
	}
	r := rand.New(rand.NewPCG(1, 2))
	var leads []float64
	for range 2000 {
		var all lead
		for range repos {
			k := repos[r.IntN(len(repos))]
			all.sum, all.n = all.sum+k.sum, all.n+k.n
		}
		leads = append(leads, all.sum/all.n)
	}
	slices.Sort(leads)
	return leads[50], leads[1949]
}
