package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// row is a line of the table, for one run or for one of its tasks.
type row struct {
	run                      *runRecord
	task                     string
	turns, calls, failed     int
	sent, received           int
	solved, judged, expected int
	tools                    map[string]int
}

// tokens returns the tokens that the model reads and writes; tool definitions count once.
func (r row) tokens() int { return tokens(r.sent + r.received + r.run.Definitions) }

// tokensEach is like tokens, but counts the definitions again in every further turn, multiplied by
// weight. Every request contains them, at the price of cached input.
func (r row) tokensEach(weight float64) int {
	return r.tokens() + int(weight*float64(max(0, r.turns-1))*float64(tokens(r.run.Definitions)))
}

func (t trial) sum(names []string, each float64, byTask bool, out io.Writer) error {
	if len(names) == 0 {
		names = t.runs()
	}
	var rows []row
	for _, name := range names {
		r, err := t.open(name)
		if err != nil {
			return err
		}
		all, err := summed(r)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, all[0])
		if byTask {
			rows = append(rows, all[1:]...)
		}
	}
	fmt.Fprintf(out, "| date | version | profile | kind | run | turns | calls | failed | sent | received | definitions | tokens | tokens, definitions ×%g each turn | solved |\n|%s\n", each, strings.Repeat("---|", 14))
	for _, r := range rows {
		name, definitions, all := r.run.Name, tokens(r.run.Definitions), r.tokens()
		weighted := r.tokensEach(each)
		if r.task != "" {
			name, definitions, all, weighted = name+" "+r.task, 0, tokens(r.sent+r.received), tokens(r.sent+r.received)
		}
		solved := "not judged"
		if r.judged > 0 {
			solved = fmt.Sprintf("%d of %d", r.solved, r.expected)
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %d | %d | %d | %d | %d | %d | %d | %d | %s |\n", r.run.Date.Format("2006-01-02"), r.run.Version, r.run.armName(), r.run.Kind,
			name, r.turns, r.calls, r.failed, tokens(r.sent), tokens(r.received), definitions, all, weighted, solved)
	}
	byArm(rows, each, out)
	for _, r := range rows {
		if r.task == "" && r.calls > 0 {
			fmt.Fprintf(out, "\n%s: %s", r.run.Name, toolCounts(r.tools))
		}
	}
	fmt.Fprintln(out)
	return nil
}

// byArm prints the mean of each arm's runs and its ratio to the shell arm's.
func byArm(rows []row, each float64, out io.Writer) {
	type key struct{ kind, version, arm string }
	groups := map[key][]row{}
	var order []key
	for _, r := range rows {
		if r.task != "" || r.calls == 0 {
			continue
		}
		k := key{r.run.Kind, r.run.Version, r.run.armName()}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	mean := func(rows []row, of func(row) int) float64 {
		n := 0
		for _, r := range rows {
			n += of(r)
		}
		return float64(n) / float64(len(rows))
	}
	turnsOf := func(r row) int { return r.turns }
	fmt.Fprintf(out, "\n| kind | version | arm | runs | turns | tokens | tokens ×%g | solved | turns / shell | tokens / shell |\n|%s\n", each, strings.Repeat("---|", 10))
	for _, k := range order {
		g := groups[k]
		turnRatio, tokenRatio := "", ""
		if shell := groups[key{k.kind, "bash", "shell"}]; shell != nil && k.arm != "shell" {
			turnRatio = fmt.Sprintf("%.2f", mean(g, turnsOf)/mean(shell, turnsOf))
			tokenRatio = fmt.Sprintf("%.2f", mean(g, row.tokens)/mean(shell, row.tokens))
		}
		solved, of := 0, 0
		for _, r := range g {
			solved, of = solved+r.solved, of+r.judged
		}
		fmt.Fprintf(out, "| %s | %s | %s | %d | %.1f | %.0f | %.0f | %d of %d judged | %s | %s |\n", k.kind, k.version, k.arm, len(g), mean(g, turnsOf), mean(g, row.tokens),
			mean(g, func(r row) int { return r.tokensEach(each) }), solved, of, turnRatio, tokenRatio)
	}
}

func (r *runRecord) armName() string {
	switch {
	case r.Arm == "shell" || r.Arm == "skill":
		return r.Arm
	case r.Arm == "hooks":
		return r.Profile + " + hooks"
	case r.Tools != "":
		return r.Profile + " (" + r.Tools + ")"
	}
	return r.Profile
}

// summed returns the row of a run, followed by the rows of its tasks.
func summed(r *runRecord) ([]row, error) {
	log, err := r.log()
	if err != nil {
		return nil, err
	}
	k, err := readKind(r.Kind)
	if err != nil {
		return nil, err
	}
	var verdicts []verdict
	if data, err := os.ReadFile(filepath.Join(r.dir, "judged.json")); err == nil {
		if err := json.Unmarshal(data, &verdicts); err != nil {
			return nil, err
		}
	}
	var rows []row
	for _, id := range append([]string{""}, strings.Split(ids(k), ", ")...) {
		one := row{run: r, task: id, expected: 1, tools: map[string]int{}}
		if id == "" {
			one.expected = len(k.Tasks)
		}
		var mine []entry
		for _, e := range log {
			if id != "" && e.Task != id {
				continue
			}
			mine = append(mine, e)
			for _, c := range e.Calls {
				one.calls++
				one.sent += c.Sent
				one.received += c.Received
				one.tools[c.Tool]++
				if c.Failed {
					one.failed++
				}
			}
		}
		one.turns = turns(mine)
		for _, v := range verdicts {
			if id == "" || v.Task == id {
				one.judged++
				if v.Solved {
					one.solved++
				}
			}
		}
		rows = append(rows, one)
	}
	return rows, nil
}

func toolCounts(tools map[string]int) string {
	names := make([]string, 0, len(tools))
	for name := range tools {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(tools[b], tools[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, tools[name])
	}
	return strings.Join(names, ", ")
}
