package vault

import (
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

func TestPeriodicNotes(t *testing.T) {
	day := time.Date(2024, 12, 30, 8, 5, 9, 0, time.UTC)
	for _, c := range []struct {
		name         string
		period       Period
		core, plugin string
		want         string
	}{
		{"nothing set", Daily, "", "", "2024-12-30.md"},
		{"core", Daily, `{"folder":"/Journal/","format":"YYYY/MM-MMMM/YYYY-MM-DD-dddd"}`, "", "Journal/2024/12-December/2024-12-30-Monday.md"},
		{"core without format", Daily, `{"folder":"J"}`, `{}`, "J/2024-12-30.md"},
		{"plugin", Daily, `{"folder":"J"}`, `{"daily":{"enabled":true,"folder":"P","format":"YYYYMMDD"}}`, "P/20241230.md"},
		{"plugin switched off", Daily, `{"folder":"J"}`, `{"daily":{"enabled":false,"folder":"P"}}`, "J/2024-12-30.md"},
		{"weekly", Weekly, "", `{"weekly":{"enabled":true,"folder":"W","format":""}}`, "W/2025-W01.md"},
		{"iso weeks", Weekly, "", `{"weekly":{"enabled":true,"format":"GGGG-[W]WW"}}`, "2025-W01.md"},
		{"quarter", Quarterly, "", "", "2024-Q4.md"},
		{"calendar sets", Monthly, "", `{"activeCalendarSet":"A","calendarSets":[{"id":"A","monthly":{"enabled":true,"folder":"M"}}]}`, "M/2024-12.md"},
	} {
		s, err := ParsePeriodic(c.period, []byte(c.core), []byte(c.plugin))
		if got := s.Path(day); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	if _, err := ParsePeriodic("hourly", nil, nil); err == nil {
		t.Error("hourly is taken for a period")
	}
	got := FillTemplate("# {{title}}\n{{date}} {{time}} {{date:dddd}} {{other}} {{", "T", day, day)
	if want := "# T\n2024-12-30 08:05 Monday {{other}} {{"; got != want {
		t.Errorf("template: %q, want %q", got, want)
	}
}

// moment.js writes the same for random times and formats.
func TestMomentFormats(t *testing.T) {
	stress.SkipTiny(t)
	module := oracle(t, "moment", "package.json")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: install Node 22 (Debian: nodejs)")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	type probe struct {
		Format string `json:"format"`
		At     int64  `json:"at"`
		Want   string `json:"want"`
	}
	var probes []probe
	for i := range 3000 {
		var b strings.Builder
		for range 1 + rng.IntN(6) {
			b.WriteString(momentTokens[rng.IntN(len(momentTokens))])
			b.WriteString([]string{"-", "/", " ", "[W]", "_", ". "}[rng.IntN(6)])
		}
		at := time.Date(1990+rng.IntN(80), 1, 1, 0, 0, rng.IntN(86400*366), rng.IntN(1000)*1e6, time.UTC)
		if i%4 == 0 { // around the turn of a year
			at = time.Date(1990+rng.IntN(80), 12, 25+rng.IntN(14), rng.IntN(24), 0, 0, 0, time.UTC)
		}
		probes = append(probes, probe{Format: b.String(), At: at.UnixMilli()})
	}
	in, err := json.Marshal(probes)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "-e", `const m=require(process.argv[1]);let s="";process.stdin.on("data",d=>s+=d).on("end",()=>
		console.log(JSON.stringify(JSON.parse(s).map(p=>({...p,want:m.utc(p.at).format(p.format)})))))`, filepath.Dir(module))
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &probes); err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, p := range probes {
		if got := FormatMoment(p.Format, time.UnixMilli(p.At).UTC()); got != p.Want {
			t.Errorf("%q at %d: %q, moment.js %q", p.Format, p.At, got, p.Want)
		}
		if p.Want != "" && p.Want != p.Format {
			made++
		}
	}
	if t.Logf("%d formats compared, moment.js made something of %d", len(probes), made); made < 2000 {
		t.Error("too few")
	}
}
