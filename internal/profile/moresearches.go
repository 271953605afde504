package profile

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"quarry/tool"
)

// maxSearches limits the searches of one call.
const maxSearches = 10

// withMore returns an action that also runs the searches in the parameter "more". They
// inherit missing parameters from the first search and share the answer's room.
func withMore(one action) action {
	return action{one.output, one.hints, func(ctx context.Context, c *call) (*answer, error) {
		searches := append([]tool.Args{c.Args}, c.Objects("more")...)
		if len(searches) == 1 {
			return one.run(ctx, c)
		}
		if len(searches) > maxSearches {
			return nil, invalid("more must have at most %d searches, not %d", maxSearches-1, len(searches)-1)
		}
		all := &searchAnswer{Files: []foundFile{}, Exact: true}
		a := &answer{data: all}
		for i, args := range searches {
			if i > 0 {
				args = c.With(args)
			}
			sub := &call{env: c.env, Args: args, tool: c.tool, client: c.client, conn: c.conn, narrow: c.narrow, sharing: len(searches)}
			got, err := one.run(ctx, sub)
			if err != nil {
				return nil, fmt.Errorf("search %d: %w", i+1, err)
			}
			if i > 0 {
				a.text = append(a.text, "\n\n"...)
			}
			where := args.String("path")
			if where != "" {
				where = " in " + where
			}
			a.text = fmt.Appendf(a.text, "=== %s%s\n%s", args.String("pattern"), where, got.text)
			for _, part := range got.receipt {
				if !slices.Contains(a.receipt, part) {
					a.receipt = append(a.receipt, part)
				}
			}
			found := got.data.(*searchAnswer)
			all.Files, all.Definitions = append(all.Files, found.Files...), append(all.Definitions, found.Definitions...)
			all.Distinct = append(all.Distinct, found.Distinct...)
			all.Total, all.Shown, all.Exact = all.Total+found.Total, all.Shown+found.Shown, all.Exact && found.Exact
			a.sum, a.cut = got.sum, cmp.Or(a.cut, got.cut)
		}
		return a, nil
	}}
}
