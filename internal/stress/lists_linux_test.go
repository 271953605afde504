package stress_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
	"quarry/internal/stress"
	"quarry/tool"
)

// Limits for a call of at most 64 KB with any arguments. The limit on memory is for the whole
// process, which has to fit into a container of 1 GB.
const (
	callTime   = 2 * time.Second
	callMemory = 1 << 30
	cancelTime = 100 * time.Millisecond
	callBytes  = 64 << 10
)

// heavyItems are patterns, globs and shapes that are expensive in relation to their length.
var heavyItems = []string{
	`\pL{300}N`, `\w{400}x`, `(?i)\pL{100}\w{100}`, `[\w\d]{200}`, `[a-q][^u-z]{13}x`, `(a|b)*a(a|b){14}`, `(?:\w{50}\s?){40}`, `((((a*)*)*)*)*b`,
	`(a{1,100}){1,100}`, `(?=\p{L}{100})x`, `(?<=a+)b(?!c{500})`, `(a+)\1{50}!`, `(?s).{1,900}x`, `\b\w+\b{start}`, `é{500}`, `[\p{L}&&\p{Greek}]{90}`,
	`{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}`, `{1..3000}`, `**/**/**/*a*b*c*d*`, `*a*a*a*a*a*a*b`, `+(a|+(b|+(c)))`, `[[:alpha:]][!a-z]*{x,y{z,w}}`,
	`$A($$B)`, `$A + $B`, `if ($A) $B; else $C;`, `a.go`, `func`, `needle`, `a`, `\`, `[`, `(?P<x`,
}

// longItems are repeated to make items whose cost grows with their length.
var longItems = []string{`a*`, `[\w\d]`, `\pL`, `(a)`, `(?:`, `a|`, `é`, `{a,b}`, `[`, `(?=a)`, `.*`, `x{2}`, `**/`, `$A `, `(a|`, `[^\d\s]?`, `a b `}

// heavyArgs generates values for the parameters of a tool.
type heavyArgs struct {
	r    *rand.Rand
	left int // remaining bytes
}

func (h *heavyArgs) text() string {
	if h.r.IntN(4) > 0 {
		return heavyItems[h.r.IntN(len(heavyItems))]
	}
	unit := longItems[h.r.IntN(len(longItems))]
	return strings.Repeat(unit, 1+h.r.IntN(1+max(0, h.left/2/len(unit))))
}

// list calls one for each item, as long as there is space.
func (h *heavyArgs) list(one func(size int)) {
	n := []int{1, 3, 30, 1000, 10_000}[h.r.IntN(5)]
	item := h.text()
	for i := 0; i < n && h.left > len(item)+8; i++ {
		one(i)
		h.left -= len(item) + 8
		if h.r.IntN(8) == 0 {
			item = h.text()
		}
	}
}

func (h *heavyArgs) value(p *tool.Param) any {
	switch p.Kind {
	case tool.Integer:
		return h.r.IntN(100)
	case tool.Boolean:
		return h.r.IntN(2) == 0
	case tool.Strings:
		out := []string{}
		h.list(func(i int) { out = append(out, h.item(i)) })
		return out
	case tool.Objects:
		out := []any{}
		h.list(func(int) { out = append(out, h.object(p.Fields)) })
		return out
	case tool.Object:
		return h.object(p.Fields)
	case tool.Texts:
		out := map[string]string{}
		h.list(func(i int) { out[h.item(i)] = "x" })
		return out
	}
	if len(p.Enum) > 0 {
		return p.Enum[h.r.IntN(len(p.Enum))]
	}
	switch {
	case strings.Contains(p.Name, "path") && !strings.Contains(p.Name, "pattern") || p.Name == "source" || p.Name == "destination":
		return []string{"a.go", "big.md", ".", "b/c.js", "none"}[h.r.IntN(5)]
	case p.OrList && h.r.IntN(2) == 0:
		out := []string{}
		h.list(func(i int) { out = append(out, h.item(i)) })
		return out
	}
	s := h.text()
	h.left -= len(s)
	return s
}

// item returns a text that differs from the other items of its list.
func (h *heavyArgs) item(i int) string { return h.text() + strconv.Itoa(i) }

func (h *heavyArgs) object(fields []tool.Param) map[string]any {
	out := map[string]any{}
	for i := range fields {
		if f := &fields[i]; f.Required || h.r.IntN(2) == 0 {
			out[f.Name] = h.value(f)
		}
	}
	return out
}

// heavyCall generates arguments of at most callBytes.
func heavyCall(r *rand.Rand, t *tool.Tool) json.RawMessage {
	for {
		h := &heavyArgs{r, callBytes / 2}
		args := map[string]any{}
		for i := range t.Params {
			if p := &t.Params[i]; p.Required || r.IntN(3) == 0 {
				args[p.Name] = h.value(p)
			}
		}
		if t.Hints.Destructive || !t.Hints.ReadOnly {
			args["dry_run"] = true
		}
		if raw, err := json.Marshal(args); err == nil && len(raw) <= callBytes {
			return raw
		}
	}
}

// lists returns calls with a list of 1,000 equal heavy items, one for each list parameter and each
// item.
func lists(tools []*tool.Tool) (calls []listCall) {
	for _, t := range tools {
		for i := range t.Params {
			p := &t.Params[i]
			for _, item := range heavyItems {
				var list any
				switch {
				case p.Kind == tool.Strings || p.OrList:
					texts := make([]string, 1000)
					for i := range texts {
						texts[i] = item
					}
					list = texts
				case p.Kind == tool.Texts:
					texts := map[string]string{}
					for i := range 1000 {
						texts[item+strconv.Itoa(i)] = "x"
					}
					list = texts
				default:
					continue
				}
				args := map[string]any{p.Name: list}
				for _, o := range t.Params {
					if o.Name == p.Name {
						continue
					}
					switch o.Name {
					case "regex", "query", "name":
						args[o.Name] = "needle"
					case "replacement":
						args[o.Name] = "x"
					case "dry_run", "all":
						args[o.Name] = true
					case "path":
						if o.Required {
							args[o.Name] = "a.go"
						}
					}
				}
				raw, _ := json.Marshal(args)
				calls = append(calls, listCall{t, raw})
			}
		}
	}
	return calls
}

type listCall struct {
	t    *tool.Tool
	args json.RawMessage
}

// attacked opens a small workspace of code and notes, and returns its tools.
func attacked(t *testing.T) []*tool.Tool {
	dir := stress.FastDir(t)
	for i := range 40 {
		put(t, filepath.Join(dir, fmt.Sprintf("d%d/f%d.go", i%5, i)), fmt.Sprintf("package p\n\nfunc needle%d() {\n%s}\n", i, strings.Repeat("\tneedle(aaaaaaaaab, bbb + ccc)\n", 20)))
	}
	put(t, filepath.Join(dir, "a.go"), "package a\n\nfunc needle() {}\n")
	put(t, filepath.Join(dir, "b/c.js"), strings.Repeat("if (a) needle(); else b();\n", 50))
	put(t, filepath.Join(dir, "big.md"), "---\ntags: [needle]\n---\n"+strings.Repeat("# needle\n\n[[a]] éééé\n\n", 200))
	put(t, filepath.Join(dir, ".obsidian/app.json"), "{}")
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: stress.FastDir(t), Trash: change.TrashLocal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	reg, err := profile.New(ws, &profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return reg.Tools()
}

// peak returns the maximum resident memory of this process since the last call of peak.
func peak(t *testing.T) (since int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	return kb << 10
}

// The test calls tools with 1,000 heavy items in each list parameter, and with generated arguments
// that have lists and nested patterns. Each call is answered or refused within the limits, and ends
// if it is cancelled.
func TestListsAsAttack(t *testing.T) {
	stress.SkipTiny(t)
	stress.SkipRace(t)
	tools := attacked(t)
	fixed := lists(tools)
	run := stress.Start(t, "lists as attack", 2000, len(fixed)+10_000)
	peak(t)
	slowest, largest, late, refused := time.Duration(0), int64(0), time.Duration(0), 0
	for seed := range run.Cases() {
		r := stress.Rand(seed)
		c := listCall{t: tools[r.IntN(len(tools))]}
		if n := (seed - 1) % uint64(len(fixed)+10_000); n < uint64(len(fixed)) && stress.Long() {
			c = fixed[n]
		} else if r.IntN(4) == 0 {
			c = fixed[r.IntN(len(fixed))]
		} else {
			c.args = heavyCall(r, c.t)
		}
		ctx, cancel := context.WithCancel(t.Context())
		began, ended := cpu(), make(chan time.Duration, 1)
		if r.IntN(4) == 0 {
			time.AfterFunc(20*time.Millisecond, func() { ended <- cpu(); cancel() })
		}
		if res := c.t.Execute(ctx, c.args); res.IsError {
			refused++
		}
		now := cpu()
		took := now - began
		select {
		case at := <-ended:
			late = max(late, now-at)
			if now-at > cancelTime {
				run.Violation(seed, "%s %.300s: %v after it was cancelled", c.t.Name, c.args, now-at)
			}
		default:
		}
		cancel()
		more := peak(t)
		slowest, largest = max(slowest, took), max(largest, more)
		if took > callTime || more > callMemory {
			run.Violation(seed, "%s %.300s (%d bytes): %v and %d MB", c.t.Name, c.args, len(c.args), took, more>>20)
		}
	}
	t.Logf("at most %v and %d MB, %v after cancelling; %d refused", slowest, largest>>20, late, refused)
}
