package tool_test

import (
	"context"
	"testing"

	"quarry/tool"
)

func TestHasProgress(t *testing.T) {
	if tool.HasProgress(context.Background()) || tool.HasProgress(tool.WithProgress(context.Background(), nil)) {
		t.Error("HasProgress is true without a receiver")
	}
	if !tool.HasProgress(tool.WithProgress(context.Background(), func(int64, int64, string) {})) {
		t.Error("a listener is not seen")
	}
}

// A tool can report progress without checking whether there is a receiver.
func TestProgress(t *testing.T) {
	tool.ProgressOf(context.Background())(1, 2, "into the void")
	tool.ProgressOf(tool.WithProgress(context.Background(), nil))(1, 2, "into the void")

	var got []int64
	ctx := tool.WithProgress(context.Background(), func(done, total int64, _ string) { got = append(got, done, total) })
	counting := &tool.Tool{Name: "count", Run: func(ctx context.Context, _ tool.Args) (*tool.Result, error) {
		tool.ProgressOf(ctx)(3, 7, "counting")
		return &tool.Result{Text: "done"}, nil
	}}
	counting.Execute(ctx, nil)
	if len(got) != 2 || got[0] != 3 || got[1] != 7 {
		t.Errorf("reported %v, want [3 7]", got)
	}
}
