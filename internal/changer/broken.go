package changer

import (
	"quarry/change"
	"quarry/internal/check"
	"quarry/internal/journal"
	"quarry/internal/textfile"
)

// maxChecked limits how much text of one change is parsed. Parsing takes about 50 ms per
// megabyte.
const maxChecked = 4 << 20

// broken lists the files whose syntax a change breaks.
func broken(ops []journal.Op) (list []change.Broken) {
	left := maxChecked
	for i := range ops {
		op := &ops[i]
		if op.Kind != journal.Replace || len(op.OldData) == 0 || len(op.OldData) > check.MaxSize {
			continue
		}
		after := op.NewData
		if after == nil && op.Edits != nil {
			after, _ = applied(op.OldData, op.Edits)
		}
		if left -= len(after); left < 0 {
			break
		}
		before, err := textfile.New(op.OldData)
		if err != nil {
			continue
		}
		if now, err := textfile.New(after); err == nil && len(after) > 0 {
			name := op.Path.String()
			if line, problem := check.Broken(name, before.Text(), now.Text()); problem != "" {
				list = append(list, change.Broken{Path: name, Line: line, Problem: problem})
			}
		}
	}
	return list
}
