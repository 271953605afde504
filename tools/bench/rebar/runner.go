package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"time"

	"quarry/match"
)

// job is one benchmark to run, as described in rebar's KLV.md.
type job struct {
	model                  string
	patterns               []string
	fold, unicode          bool
	hay                    []byte
	iters, warmIters       int
	maxTime, maxWarmupTime time.Duration
}

// encode writes a job for a runner.
func (j *job) encode(w io.Writer) {
	put := func(key string, value any) {
		s := fmt.Sprint(value)
		fmt.Fprintf(w, "%s:%d:%s\n", key, len(s), s)
	}
	put("name", "x")
	put("model", j.model)
	for _, p := range j.patterns {
		put("pattern", p)
	}
	put("case-insensitive", j.fold)
	put("unicode", j.unicode)
	put("haystack", string(j.hay))
	put("max-iters", j.iters)
	put("max-warmup-iters", j.warmIters)
	put("max-time", j.maxTime.Nanoseconds())
	put("max-warmup-time", j.maxWarmupTime.Nanoseconds())
}

// decode reads a job.
func decode(r io.Reader) (*job, error) {
	j := &job{}
	in := bufio.NewReader(r)
	for {
		key, err := in.ReadString(':')
		if err == io.EOF {
			return j, nil
		}
		length, err := in.ReadString(':')
		if err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(length[:len(length)-1])
		if err != nil {
			return nil, err
		}
		value := make([]byte, n+1)
		if _, err := io.ReadFull(in, value); err != nil {
			return nil, err
		}
		if err := j.set(key[:len(key)-1], value[:n]); err != nil {
			return nil, fmt.Errorf("%s %w", key, err)
		}
	}
}

func (j *job) set(key string, value []byte) (err error) {
	s := string(value)
	number := func() (n int) {
		n, err = strconv.Atoi(s)
		return n
	}
	switch key {
	case "model":
		j.model = s
	case "pattern":
		j.patterns = append(j.patterns, s)
	case "case-insensitive":
		j.fold = s == "true"
	case "unicode":
		j.unicode = s == "true"
	case "haystack":
		j.hay = value
	case "max-iters":
		j.iters = number()
	case "max-warmup-iters":
		j.warmIters = number()
	case "max-time":
		j.maxTime = time.Duration(number())
	case "max-warmup-time":
		j.maxWarmupTime = time.Duration(number())
	}
	return err
}

// run measures a job and prints samples as rebar does: nanoseconds and count.
func (j *job) run(engine string) error {
	once, err := j.once(engine)
	if err != nil {
		return err
	}
	for start, i := time.Now(), 0; i < j.warmIters && time.Since(start) < j.maxWarmupTime; i++ {
		once()
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for start, i := time.Now(), 0; i < max(1, j.iters); i++ {
		took, n := once()
		fmt.Fprintf(out, "%d,%d\n", took.Nanoseconds(), n)
		if time.Since(start) > j.maxTime {
			break
		}
	}
	return nil
}

// timed returns the duration of f, which is the lesser of wall and processor time. Wall time may be
// too long on a busy machine. For a short search, processor time is too long, because reading it
// takes longer than the search.
func timed(f func() int) (time.Duration, int) {
	used := processorTime()
	start := time.Now()
	n := f()
	wall := time.Since(start)
	return min(wall, processorTime()-used), n
}

// once returns a function that runs one iteration of the job's model.
func (j *job) once(engine string) (func() (time.Duration, int), error) {
	e, err := newEngine(engine, j)
	if err != nil {
		return nil, err
	}
	search := map[string]func() int{
		"count":          func() int { return e.each(j.hay, func(_, _ int) int { return 1 }) },
		"count-spans":    func() int { return e.each(j.hay, func(s, e int) int { return e - s }) },
		"count-captures": func() int { return e.captures(j.hay) },
		"grep": func() int {
			return eachLine(j.hay, func(line []byte) int {
				if e.has(line) {
					return 1
				}
				return 0
			})
		},
		"grep-captures": func() int { return eachLine(j.hay, e.captures) },
	}[j.model]
	if search != nil {
		return func() (time.Duration, int) { return timed(search) }, nil
	}
	if j.model != "compile" {
		return nil, fmt.Errorf("unknown model %q", j.model)
	}
	return func() (time.Duration, int) {
		var e searcher
		took, _ := timed(func() int { e, _ = newEngine(engine, j); return 0 })
		return took, e.each(j.hay, func(_, _ int) int { return 1 })
	}, nil
}

// eachLine returns the sum of f over all lines, without line endings.
func eachLine(hay []byte, f func(line []byte) int) int {
	n := 0
	for len(hay) > 0 {
		line, rest, _ := bytes.Cut(hay, []byte("\n"))
		n += f(bytes.TrimSuffix(line, []byte("\r")))
		hay = rest
	}
	return n
}

// searcher is an engine to measure.
type searcher interface {
	each(text []byte, value func(start, end int) int) int
	has(line []byte) bool
	captures(text []byte) int // number of matched groups in all matches
}

func newEngine(name string, j *job) (searcher, error) {
	switch name {
	case "quarry":
		return newQuarry(j)
	case "go":
		return newGo(j)
	}
	return nil, fmt.Errorf("unknown engine %q", name)
}

type quarryEngine struct {
	m     *match.Matcher
	slots []int
}

func newQuarry(j *job) (searcher, error) {
	opts := match.Options{Mode: match.Text}
	if j.fold {
		opts.Case = match.Insensitive
	}
	exprs := j.patterns
	if !j.unicode {
		exprs = nil
		for _, e := range j.patterns {
			exprs = append(exprs, "(?-u)"+e)
		}
	}
	e := &quarryEngine{}
	if j.model == "grep" {
		opts.Mode = match.Lines
	}
	p, err := match.CompileAny(exprs, opts)
	if err != nil {
		return nil, err
	}
	e.m = p.NewMatcher()
	return e, nil
}

func (q *quarryEngine) each(text []byte, value func(start, end int) int) int {
	n := 0
	q.m.Each(text, func(start, end int) bool {
		n += value(start, end)
		return true
	})
	return n
}

func (q *quarryEngine) has(line []byte) bool { return q.m.MatchLine(line) }

func (q *quarryEngine) captures(text []byte) int {
	n := 0
	for from := 0; from <= len(text); {
		slots, ok := q.m.Captures(text, from, q.slots)
		if !ok {
			break
		}
		q.slots = slots
		for i := 0; i < len(slots); i += 2 {
			if slots[i] >= 0 {
				n++
			}
		}
		if from = slots[1]; slots[0] == slots[1] {
			from++
		}
	}
	return n
}

type goEngine struct{ re *regexp.Regexp }

func newGo(j *job) (searcher, error) {
	if len(j.patterns) != 1 {
		return nil, fmt.Errorf("regexp has one pattern")
	}
	expr := j.patterns[0]
	if j.fold {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	return goEngine{re}, err
}

func (g goEngine) each(text []byte, value func(start, end int) int) int {
	n := 0
	for _, s := range g.re.FindAllIndex(text, -1) {
		n += value(s[0], s[1])
	}
	return n
}

func (g goEngine) has(line []byte) bool { return g.re.Match(line) }

func (g goEngine) captures(text []byte) int {
	n := 0
	for _, slots := range g.re.FindAllSubmatchIndex(text, -1) {
		for i := 0; i < len(slots); i += 2 {
			if slots[i] >= 0 {
				n++
			}
		}
	}
	return n
}
