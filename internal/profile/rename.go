package profile

import (
	"context"

	"quarry/internal/rename"
)

// renameSymbol renames a definition and its uses as one change. Doubtful places are
// listed and stop the change, unless the caller says how to treat them.
func (c *call) renameSymbol(ctx context.Context) (*answer, error) {
	if c.String("regex") != "" || c.String("text") != "" || c.String("structure") != "" {
		return nil, invalid("Give one of regex, text, structure and symbol.")
	}
	q := rename.Query{Old: c.String("symbol"), New: c.String("replacement"), Doubtful: c.Bool("doubtful"), Sure: c.Given("doubtful") && !c.Bool("doubtful"), Comments: c.Bool("comments")}
	if p := c.file(ctx, "path"); p != "" {
		q.Paths = []string{p}
	}
	const decide = `look at the doubtful places; "doubtful":true renames them too, false leaves them`
	plan, err := rename.Find(ctx, c.ws, q)
	if err == nil && !c.Bool("dry_run") {
		err = plan.Undecided(&q, 10, decide)
	}
	if err != nil {
		return nil, err
	}
	a, err := c.applySummed(ctx, plan.Set(c.ws, q, decide))
	if err != nil {
		return nil, err
	}
	a.text = append([]byte(sentence(plan.Text(&q, 10))+"\n"), a.text...)
	if len(plan.Doubtful) > 0 && !q.Doubtful && !q.Sure {
		a.receipt = append(a.receipt, decide)
	}
	return a, nil
}
