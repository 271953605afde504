// Package stress determines how many cases the tests of docs/RELIABILITY.md try, and reports what
// they tried.
//
// A regime tests one promise with one kind of attack. Its test runs case after case until none is
// left. Each case depends only on its seed, so that a failure can be reproduced. The environment
// determines the number of cases:
//
//	(unset)           a twentieth of the short form: go test ./...; with -short a fortieth
//	STRESS=short      the short form: make stress
//	STRESS=long       the regime's full count
//	STRESS=20m        the full count, or as many as can be tried in that time
//	STRESS_SEED=17    only the case with seed 17
//
// All forms except the long one always use the same seeds. A long run chooses its first seed and
// prints it. Only tests import this package.
package stress

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// Run is a running regime. Its methods are safe for concurrent use.
type Run struct {
	t      testing.TB
	regime string
	began  time.Time
	ends   time.Time // zero if only the count limits it
	first  uint64
	count  uint64

	taken    atomic.Uint64 // number of cases handed out
	tried    atomic.Int64  // number of attempts, if cases consist of several
	violated atomic.Int64
}

// form determines how many cases a regime tries; the forms are in increasing order.
type form int

const (
	tiny  form = iota // go test -short
	brief             // go test -short with STRESS=brief, for make race and Wine
	quick             // go test
	short             // STRESS=short
	long              // STRESS=long, or a time
)

// share returns n if the form tries 1/n of the cases of the short form. 40 makes go test -short
// ./... take half a minute, half of it for linking. With 20, go test ./... takes three minutes;
// with 12 it took four.
func (f form) share() int {
	switch f {
	case tiny, brief:
		return 40
	case quick:
		return 20
	}
	return 1
}

// setting holds the values from the environment.
type setting struct {
	form   form
	budget time.Duration // 0 if unlimited
	seed   uint64
	single bool
}

func read(getenv func(string) string) (s setting, err error) {
	switch v := getenv("STRESS"); v {
	case "":
		if s.form = quick; testing.Short() {
			s.form = tiny
		}
	case "brief":
		if s.form = quick; testing.Short() {
			s.form = brief
		}
	case "short":
		s.form = short
	case "long":
		s.form = long
	default:
		s.form = long
		if s.budget, err = time.ParseDuration(v); err != nil || s.budget <= 0 {
			return s, fmt.Errorf("STRESS=%s: want nothing, brief, short, long, or a time such as 20m", v)
		}
	}
	if v := getenv("STRESS_SEED"); v != "" {
		s.single = true
		if s.seed, err = strconv.ParseUint(v, 10, 64); err != nil {
			return s, fmt.Errorf("STRESS_SEED=%s: want the number a failing case printed", v)
		}
	}
	return s, nil
}

func mustRead(t testing.TB) setting {
	t.Helper()
	s, err := read(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Long reports whether the long form was requested.
func Long() bool { return asked() == long }

// Thorough reports whether at least the short form was requested. With less, a test may try too few
// cases to show that its attack works.
func Thorough() bool { return asked() >= short }

func asked() form {
	s, err := read(os.Getenv)
	if err != nil {
		return quick // invalid; the regimes report it
	}
	return s.form
}

// SkipShort skips a test that costs a second or more when -short is given.
func SkipShort(t testing.TB) {
	t.Helper()
	if asked() < quick {
		t.Skip("takes a second or more: run without -short")
	}
}

// SkipTiny skips a test that costs a third of a second when -short is given, unless STRESS=brief is
// set. It keeps go test -short ./... at half a minute.
func SkipTiny(t testing.TB) {
	t.Helper()
	if asked() == tiny {
		t.Skip("takes a third of a second or more: run without -short")
	}
}

// SkipRace skips a test that limits processor time under the race detector, which takes ten times
// as much.
func SkipRace(t testing.TB) {
	t.Helper()
	if raceDetector {
		t.Skip("bounds processor time: run without -race")
	}
}

// SkipQuick skips a test except in make stress. It is for tests that are mostly covered by a
// faster one in go test.
func SkipQuick(t testing.TB) {
	t.Helper()
	if asked() < short {
		t.Skip("a part of make stress: set STRESS=short")
	}
}

// Size returns many in the short and long forms, otherwise few. It is for the size of a test's
// input.
func Size(few, many int) int {
	if asked() < short {
		return few
	}
	return many
}

// N returns how many of n random cases to try in a test that compares two methods: all in the short
// and long forms, an eighth in go test, a twentieth with -short.
func N(n int) int {
	switch asked() {
	case tiny, brief:
		return max(1, n/20)
	case quick:
		return max(1, n/8)
	}
	return n
}

// Fewer returns n, or with -short an eighth of it. It is for random cases that are all tried in go
// test.
func Fewer(n int) int {
	if asked() < quick {
		return max(1, n/8)
	}
	return n
}

// Takes reports whether a regime that enumerates its cases tries case i: always in the short and
// long forms, otherwise for a share of them. The choice isn't periodic, so if the cases combine
// calls with faults, every call and every fault occurs.
func Takes(i int) bool { return uint32(i)*2654435769>>16%uint32(asked().share()) == 0 }

// Start starts a regime that tries few cases in the short form and many in the long form.
func Start(t testing.TB, regime string, few, many int) *Run {
	t.Helper()
	s := mustRead(t)
	n := max(1, few/s.form.share())
	if s.form == long {
		n = many
	}
	return start(t, regime, s, uint64(n), s.budget)
}

// StartFor starts a regime that tries as many cases as it can in time d. The long form takes sixty
// times as long, unless STRESS has a time.
func StartFor(t testing.TB, regime string, d time.Duration) *Run {
	t.Helper()
	s := mustRead(t)
	switch {
	case s.budget > 0:
		d = s.budget
	case s.form == long:
		d *= 60
	default:
		d /= time.Duration(s.form.share())
	}
	return start(t, regime, s, 1<<62, d)
}

func start(t testing.TB, regime string, s setting, count uint64, budget time.Duration) *Run {
	r := &Run{t: t, regime: regime, began: time.Now(), first: 1, count: count}
	if budget > 0 {
		r.ends = r.began.Add(budget)
	}
	switch {
	case s.single:
		r.first, r.count = s.seed, 1
	case s.form == long:
		r.first = uint64(r.began.Unix()) << 20 // different runs use different seeds
	}
	t.Cleanup(r.report)
	return r
}

// Cases yields seeds until all cases were tried, the time is over or the test has failed. Several
// goroutines may range over it concurrently; each seed is passed to only one of them.
func (r *Run) Cases() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for !r.t.Failed() {
			if !r.ends.IsZero() && time.Now().After(r.ends) && r.taken.Load() > 0 {
				return
			}
			n := r.taken.Add(1) - 1
			if n >= r.count {
				r.taken.Add(^uint64(0))
				return
			}
			if !yield(r.first + n) {
				return
			}
		}
	}
}

// Becomes calls is repeatedly until it returns true. It returns false if that takes a minute or
// more. It is for effects of another process or goroutine that are not signalled.
func Becomes(is func() bool) bool {
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Rand returns the random generator of a case.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5eed)) }

// Tried adds n to the number of attempts, for regimes whose cases consist of several.
func (r *Run) Tried(n int) { r.tried.Add(int64(n)) }

// Violation reports that the case with this seed broke the regime's promise.
func (r *Run) Violation(seed uint64, format string, args ...any) {
	r.t.Helper()
	r.violated.Add(1)
	r.t.Errorf("%s, STRESS_SEED=%d: %s", r.regime, seed, fmt.Sprintf(format, args...))
}

// report prints the line that tools/stress/run collects.
func (r *Run) report() {
	tried := r.tried.Load()
	if tried == 0 {
		tried = int64(r.taken.Load())
	}
	violated := r.violated.Load()
	if violated == 0 && r.t.Failed() {
		violated = 1
	}
	r.t.Logf("stress: %q tried %d, violated %d, seeds from %d, took %.1fs", r.regime, tried, violated, r.first, time.Since(r.began).Seconds())
}
