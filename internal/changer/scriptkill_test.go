package changer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/script/workertest"
	regime "quarry/internal/stress"
	"quarry/toolset"
)

// scriptOf is a set as a script of the tool change.
func scriptOf(set change.Set) string {
	var b strings.Builder
	for _, op := range set.Ops {
		switch {
		case op.Verb == change.MovePath:
			fmt.Fprintf(&b, "move(%q, %q)\n", op.Path, op.To)
		case op.Verb == change.DeletePath:
			fmt.Fprintf(&b, "delete(%q)\n", op.Path)
		case len(op.Edits) > 0:
			fmt.Fprintf(&b, "insert(%q, %q)\n", op.Path, op.Edits[0].New)
		default:
			fmt.Fprintf(&b, "write(%q, %q)\n", op.Path, op.Content)
		}
	}
	return b.String()
}

// TestScriptChild is TestSetChild with scripts.
func TestScriptChild(t *testing.T) {
	ws, seed := openAsChild(t, "QUARRY_SETS", "TestScriptKill")
	tools, err := toolset.New(ws, &toolset.Options{Tools: []string{"change"}, Worker: workertest.Command(t)})
	if err != nil {
		t.Fatal(err)
	}
	makeSets(newSetModel(seed, true), func(set change.Set) error {
		args, err := json.Marshal(map[string]any{"script": scriptOf(set)})
		if err != nil {
			return err
		}
		res, err := tools.Call(ctx, "change", args)
		if err == nil && res.IsError {
			err = errors.New(res.Text)
		}
		return err
	})
}

// A process that is killed while a script's changes are applied leaves the tree
// before the script or after it, as with a set.
func TestScriptKill(t *testing.T) {
	run := regime.Start(t, "kill -9 while scripts that change 2 to 200 files run", 40, 1000)
	killWhileSets(t, run, "TestScriptChild", true)
}
