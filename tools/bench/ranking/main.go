// Ranking measures ranked search with an independent benchmark: questions about 32 public
// repositories, and the files that answer them. It prints NDCG@10 by category and repository, for
// comparison also of plain BM25 over passages of 50 lines.
//
//	scripts/tool bench/ranking -trees DIR [-annotations DIR] [-repo NAME] [-misses]
//	scripts/tool bench/ranking -trees DIR [-annotations DIR] -tokens
//	scripts/tool bench/ranking -issues FILE -trees DIR [-misses]
//	scripts/tool bench/ranking -make FILE -mirrors DIR -trees DIR
//	scripts/tool bench/ranking -kinds FILE -trees DIR [-split held] [-kind KIND] [-misses]
//	scripts/tool bench/ranking -latency DIR [-index DIR] [-part PART] [-misses]
//	scripts/tool bench/ranking -checkout DIR
//	scripts/tool bench/ranking -methods DIR:DIR:…
//	scripts/tool bench/ranking -golib DIR
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry"
	"quarry/search"
)

type repository struct {
	Repo     string `json:"repo"`
	Root     string `json:"benchmark_root"`
	Language string `json:"language"`
}

// question is a query with the files or lines that answer it.
type question struct {
	Query     string   `json:"query"`
	Category  string   `json:"category"`
	Relevant  []target `json:"relevant"`
	Secondary []target `json:"secondary"`
}

// target is a file, or a range of lines in it.
type target struct {
	Path  string `json:"path"`
	Start int    `json:"start_line"`
	End   int    `json:"end_line"`
}

func (t *target) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &t.Path) == nil {
		return nil
	}
	type plain target
	return json.Unmarshal(b, (*plain)(t))
}

func main() {
	trees := flag.String("trees", "", "folder with one checkout per repository, named as in repos.json")
	annotations := flag.String("annotations", "../shared/conformance/ranking", "folder with repos.json and annotations")
	only := flag.String("repo", "", "measure this repository alone")
	tree := flag.String("latency", "", "measure the time of questions about this large tree instead")
	changed := flag.String("checkout", "", "measure names right after 20,000 files changed, in a copy of C sources of this tree, instead")
	types := flag.String("methods", "", "measure how often Type.method gives that type first, in these trees, instead")
	index := flag.String("index", "", "with -latency, the folder of its index (default: a temporary one)")
	part := flag.String("part", "", "with -latency, measure this alone: sentences, names, outline")
	table := flag.Bool("tokens", false, "print what an agent reads to see the definitions of 30 names instead")
	reports := flag.String("issues", "", "measure which files the issues of this file are about instead; -trees has a git repository per project")
	library := flag.String("golib", "", "measure how often find_symbol is right at first, in this source of Go's library")
	misses := flag.Bool("misses", false, "list the questions below 0.7, and names that are not found")
	made := flag.String("make", "", "write the questions of the mixture to this file instead; -trees gets checkouts")
	list := flag.String("mixture", "tools/bench/ranking/mixture/repos.json", "with -make, the repositories and their splits")
	mirrors := flag.String("mirrors", "", "with -make, a folder with a git repository for each")
	kinds := flag.String("kinds", "", "judge the questions of this file by kind, beside BM25, instead")
	split := flag.String("split", "held", "with -kinds, the repositories to judge: fit or held")
	kind := flag.String("kind", "", "with -kinds, judge this kind alone")
	flag.Parse()
	if *library != "" {
		if err := goLibrary(*library); err != nil {
			fmt.Fprintln(os.Stderr, "ranking:", err)
			os.Exit(1)
		}
		return
	}
	if *tree != "" {
		if err := latency(*tree, *index, *part, *misses); err != nil {
			fmt.Fprintln(os.Stderr, "ranking:", err)
			os.Exit(1)
		}
		return
	}
	if *types != "" {
		if err := methods(filepath.SplitList(*types)); err != nil {
			fmt.Fprintln(os.Stderr, "ranking:", err)
			os.Exit(1)
		}
		return
	}
	if *changed != "" {
		if err := checkout(*changed); err != nil {
			fmt.Fprintln(os.Stderr, "ranking:", err)
			os.Exit(1)
		}
		return
	}
	if *trees == "" {
		fmt.Fprintln(os.Stderr, "ranking: -trees is missing: a folder with the checkouts that repos.json names")
		os.Exit(2)
	}
	if *made != "" || *kinds != "" {
		var err error
		if *made != "" {
			err = mixture(*list, *mirrors, *trees, *made)
		} else {
			err = judgeKinds(*kinds, *trees, *split, *kind, *misses)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "ranking:", err)
			os.Exit(1)
		}
		return
	}
	if *reports != "" {
		if err := issues(*reports, *trees, *misses); err != nil {
			fmt.Fprintln(os.Stderr, "ranking:", err)
			os.Exit(1)
		}
		return
	}
	if *table {
		if err := tokens(*trees, *annotations); err != nil {
			fmt.Fprintln(os.Stderr, "ranking:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*trees, *annotations, *only, *misses); err != nil {
		fmt.Fprintln(os.Stderr, "ranking:", err)
		os.Exit(1)
	}
}

// mean is a running mean.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) { m.sum += v; m.n++ }

func (m *mean) value() float64 { return m.sum / float64(max(m.n, 1)) }

type report struct {
	repos, categories map[string]*mean
	peers             map[string]*mean // results of BM25, by repository
	times             []time.Duration
}

func (r *report) add(to map[string]*mean, key string, v float64) {
	if to[key] == nil {
		to[key] = &mean{}
	}
	to[key].add(v)
}

func run(trees, annotations, only string, misses bool) error {
	repos, err := readRepos(annotations)
	if err != nil {
		return err
	}
	r := &report{repos: map[string]*mean{}, categories: map[string]*mean{}, peers: map[string]*mean{}}
	for _, name := range slices.Sorted(maps.Keys(repos)) {
		if only != "" && name != only {
			continue
		}
		if _, err := os.Stat(filepath.Join(trees, name)); err != nil {
			fmt.Fprintf(os.Stderr, "ranking: no tree of %s: left out\n", name)
			continue
		}
		if err := r.repository(name, repos[name], trees, annotations, misses); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	r.print()
	return nil
}

func (r *report) repository(name string, repo repository, trees, annotations string, misses bool) error {
	data, err := os.ReadFile(filepath.Join(annotations, "annotations", name+".json"))
	if err != nil {
		return err
	}
	var questions []question
	if err := json.Unmarshal(data, &questions); err != nil {
		return err
	}
	ws, err := quarry.Open(filepath.Join(trees, name, filepath.FromSlash(repo.Root)), nil)
	if err != nil {
		return err
	}
	defer ws.Close()
	peer, err := readTexts(filepath.Join(trees, name, filepath.FromSlash(repo.Root)), 50, func(string) bool { return true }, wordsOf)
	if err != nil {
		return err
	}
	for _, q := range questions {
		started := time.Now()
		answer, err := ws.SearchCode(context.Background(), search.CodeQuery{Query: q.Query, Limit: 10})
		if err != nil {
			return fmt.Errorf("%q: %w", q.Query, err)
		}
		r.times = append(r.times, time.Since(started))
		targets := slices.Concat(q.Relevant, q.Secondary)
		score := ndcg(targets, answer.Chunks, repo.Root)
		r.add(r.repos, name, score)
		var theirs []search.Chunk
		for _, s := range peer.best(q.Query, 10) {
			theirs = append(theirs, search.Chunk{Path: s.path, StartLine: s.first, EndLine: s.last})
		}
		r.add(r.peers, name, ndcg(targets, theirs, repo.Root))
		r.add(r.categories, category(&q), score)
		if named(q.Query, targets) {
			r.add(r.categories, "name in query", score)
		} else {
			r.add(r.categories, "name not in query", score)
		}
		if misses && score < 0.7 {
			fmt.Printf("%.2f %s: %s\n", score, name, q.Query)
			for _, t := range targets {
				fmt.Printf("     want %s %d-%d\n", t.Path, t.Start, t.End)
			}
			for _, c := range answer.Chunks[:min(3, len(answer.Chunks))] {
				fmt.Printf("     got  %s %d-%d %s %.3f\n", c.Path, c.StartLine, c.EndLine, c.Symbol, c.Score)
			}
		}
	}
	return nil
}

// ndcg returns the NDCG of the first ten results. Each target has the rank of the first result that
// shows it.
func ndcg(targets []target, results []search.Chunk, root string) float64 {
	got, ideal := 0.0, 0.0
	for i, t := range targets {
		if i < 10 {
			ideal += 1 / math.Log2(float64(i+2))
		}
		for rank, c := range results[:min(10, len(results))] {
			if shows(t, path.Join(root, c.Path), c.StartLine, c.EndLine) {
				got += 1 / math.Log2(float64(rank+2))
				break
			}
		}
	}
	if ideal == 0 {
		return 0
	}
	return got / ideal
}

// shows reports whether lines first to last of a file show a target. The paths must be equal, or
// one must end with the other. If the target has lines, they must overlap.
func shows(t target, file string, first, last int) bool {
	if file != t.Path && !strings.HasSuffix(file, "/"+t.Path) && !strings.HasSuffix(t.Path, "/"+file) {
		return false
	}
	return t.Start == 0 || first <= t.End && t.Start <= last
}

func category(q *question) string {
	switch {
	case q.Category != "":
		return q.Category
	case len(strings.Fields(q.Query)) == 1:
		return "symbol"
	case strings.HasPrefix(strings.ToLower(q.Query), "how "):
		return "architecture"
	}
	return "semantic"
}

// named reports whether the query contains the name of a target's file in any style; for example,
// "rate limiter" names rate_limiter.py.
func named(query string, targets []target) bool {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '_' || r == '-' || r == ' ' || r == '.' {
				return -1
			}
			return r
		}, strings.ToLower(s))
	}
	for _, t := range targets {
		base, _, _ := strings.Cut(path.Base(t.Path), ".")
		if strings.Contains(plain(query), plain(base)) {
			return true
		}
	}
	return false
}

func (r *report) print() {
	total, peers := mean{}, mean{}
	fmt.Printf("%-22s %6s %6s %5s\n", "repository", "NDCG", "BM25", "n")
	for _, name := range slices.Sorted(maps.Keys(r.repos)) {
		m := r.repos[name]
		total.add(m.value())
		peers.add(r.peers[name].value())
		fmt.Printf("%-22s %6.3f %6.3f %5d\n", name, m.value(), r.peers[name].value(), m.n)
	}
	fmt.Println()
	for _, name := range slices.Sorted(maps.Keys(r.categories)) {
		m := r.categories[name]
		fmt.Printf("%-22s %6.3f %5d\n", name, m.value(), m.n)
	}
	slices.Sort(r.times)
	fmt.Printf("\n%-22s %6.3f, BM25 %.3f, mean over %d repositories of the mean over questions\n", "NDCG@10", total.value(), peers.value(), total.n)
	if n := len(r.times); n > 0 {
		fmt.Printf("time a question: median %s, 95%% %s, worst %s\n", r.times[n/2].Round(time.Microsecond), r.times[n*95/100].Round(time.Microsecond), r.times[n-1].Round(time.Microsecond))
	}
}
