package host

import (
	"context"
	"fmt"

	"quarry/internal/rename"
)

// renamed is what rename() did.
type renamed struct {
	Type     string   `json:"$"`
	Sure     int      `json:"sure"`
	Doubtful []string `json:"doubtful"` // places, with the reason
	Left     int      `json:"left"`
	Comments int      `json:"comments"`
}

// rename gives a definition and its uses another name, in what the script has staged.
func (h *Host) rename(ctx context.Context, a args) (any, error) {
	q := rename.Query{Old: a.text("name"), New: a.text("new"), Doubtful: a.flag("doubtful"), Comments: a.flag("comments")}
	for _, p := range a.list("path") {
		if p = h.path(p); p != "" && p != "." {
			q.Paths = append(q.Paths, p)
		}
	}
	plan, err := rename.Find(ctx, h.view, q)
	if err != nil {
		return nil, err
	}
	for _, op := range plan.Ops {
		if err := h.view.Edit(ctx, op.Path, op.Edits...); err != nil {
			return nil, err
		}
	}
	r := renamed{Type: "report", Sure: len(plan.Sure), Doubtful: []string{}, Left: len(plan.Left), Comments: plan.Comments}
	for _, d := range plan.Doubtful {
		r.Doubtful = append(r.Doubtful, fmt.Sprintf("%s:%d: %s (%s)", d.Path, d.Line, d.Text, d.Why))
	}
	return r, nil
}
