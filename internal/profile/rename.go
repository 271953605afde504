package profile

import (
	"context"
	"fmt"

	"quarry/fault"
	"quarry/internal/rename"
)

// renameSymbol renames a definition and its uses, as one change. Doubtful places are
// listed, and renamed only if the caller says so.
func (c *call) renameSymbol(ctx context.Context) (*answer, error) {
	if c.String("regex") != "" || c.String("text") != "" || c.String("structure") != "" {
		return nil, invalid("Give one of regex, text, structure and symbol.")
	}
	q := rename.Query{Old: c.String("symbol"), New: c.String("replacement"), Doubtful: c.Bool("doubtful"), Comments: c.Bool("comments")}
	if p := c.file(ctx, "path"); p != "" {
		q.Paths = []string{p}
	}
	plan, err := rename.Find(ctx, c.ws, q)
	if err != nil {
		return nil, err
	}
	a, err := c.applySummed(ctx, plan.Ops, fmt.Sprintf("renamed %s to %s: %s", q.Old, q.New, fault.Count(len(plan.Sure), "sure place", "sure places")))
	if err != nil {
		return nil, err
	}
	a.text = append([]byte(sentence(plan.Text(&q, 10))+"\n"), a.text...)
	if len(plan.Doubtful) > 0 && !q.Doubtful {
		a.receipt = append(a.receipt, `look at the doubtful places; "doubtful":true renames them too`)
	}
	return a, nil
}
