package printing

import (
	"testing"

	"quarry/search"
)

func TestPlanText(t *testing.T) {
	for _, c := range []struct {
		plan search.Plan
		want string
	}{
		{search.Plan{}, ""},
		{search.Plan{Kind: search.PlanScan}, "scan"},
		{search.Plan{Kind: search.PlanIndex, Every: true, Documents: 9, Changed: 1}, "index: every one of 9 files, 1 changed"},
		{search.Plan{Kind: search.PlanIndex, Documents: 9, Candidates: 2, Grams: 4, Lists: 3}, "index: 2 of 9 files by 3 of 4 grams, 0 changed"},
		{search.Plan{Kind: search.PlanIndex, Documents: 9, Candidates: 2, Blocks: 5, AtLeast: true, Grams: 4, Lists: 3}, "index: at least 2 of 9 files in 5 blocks by 3 of 4 grams, 0 changed"},
		{search.Plan{Kind: search.PlanIndex, Documents: 9, Candidates: 2, NoDetail: true}, "index: 2 of 9 files, 0 changed"},
		{search.Plan{Kind: search.PlanIndex, Documents: 9, AtLeast: true, NoDetail: true}, "index: some of 9 files, 0 changed"},
		{search.Plan{Kind: search.PlanWords, Documents: 9, Changed: 2}, "index: words of 9 files, 2 of them read again"},
		{search.Plan{Kind: search.PlanSymbols, Changed: 2}, "index: definitions, 2 files read again"},
	} {
		if got := planText(&c.plan); got != c.want {
			t.Errorf("%+v is %q, want %q", c.plan, got, c.want)
		}
	}
}
