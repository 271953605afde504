package stress

import (
	"sync"
	"testing"
	"time"
)

func TestSettings(t *testing.T) {
	unasked, most := quick, quick
	if testing.Short() {
		unasked, most = tiny, brief
	}
	for _, c := range []struct {
		stress, seed string
		want         setting
		fails        bool
	}{
		{"", "", setting{form: unasked}, false},
		{"brief", "", setting{form: most}, false},
		{"short", "", setting{form: short}, false},
		{"long", "", setting{form: long}, false},
		{"20m", "", setting{form: long, budget: 20 * time.Minute}, false},
		{"", "17", setting{form: unasked, seed: 17, single: true}, false},
		{"forever", "", setting{}, true},
		{"-3s", "", setting{}, true},
		{"", "x", setting{}, true},
	} {
		env := map[string]string{"STRESS": c.stress, "STRESS_SEED": c.seed}
		got, err := read(func(name string) string { return env[name] })
		if (err != nil) != c.fails || err == nil && got != c.want {
			t.Errorf("STRESS=%s STRESS_SEED=%s: %+v, %v", c.stress, c.seed, got, err)
		}
	}
}

// Workers share the cases: each case is handed out once, and no more than there are.
func TestCasesAreShared(t *testing.T) {
	t.Setenv("STRESS", "")
	t.Setenv("STRESS_SEED", "")
	r := start(t, "shared", setting{}, 100, 0)
	var mu sync.Mutex
	seen := map[uint64]int{}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for seed := range r.Cases() {
				mu.Lock()
				seen[seed]++
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if len(seen) != 100 || seen[1] != 1 || seen[100] != 1 || r.taken.Load() != 100 {
		t.Errorf("%d cases, %d taken", len(seen), r.taken.Load())
	}
}

// With STRESS_SEED there is one case. If the time is over, there is still at least one.
func TestCasesEnd(t *testing.T) {
	for _, c := range []struct {
		name string
		run  *Run
		want []uint64
	}{
		{"one seed", start(t, "one seed", setting{single: true, seed: 17}, 100, 0), []uint64{17}},
		{"no time left", start(t, "no time left", setting{}, 100, time.Nanosecond), []uint64{1}},
	} {
		for began := time.Now(); time.Since(began) < time.Nanosecond; { // some clocks advance in large steps
		}
		var got []uint64
		for seed := range c.run.Cases() {
			got = append(got, seed)
		}
		if len(got) != len(c.want) || got[0] != c.want[0] {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
