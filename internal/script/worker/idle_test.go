package worker

import (
	"encoding/json"
	"io"
	"runtime"
	"testing"

	"quarry/internal/script"
)

// A worker that waits for the next script does nothing: what it used while it waited
// would be taken from the processor time of the scripts to come.
func TestWaitingWorkerIsIdle(t *testing.T) {
	toIn, fromOut := io.Pipe()
	back, out := io.Pipe()
	before := runtime.NumGoroutine()
	ended := make(chan error)
	go func() { ended <- Main(toIn, out) }()
	answers, jobs := json.NewDecoder(back), json.NewEncoder(fromOut)
	for range 3 {
		if err := jobs.Encode(toWorker{Run: &start{Job: script.Job{Script: "print(1)", Steps: 1000, Output: 1000}, Memory: 4 << 30, Processor: 100_000}}); err != nil {
			t.Fatal(err)
		}
		var m fromWorker
		if err := answers.Decode(&m); err != nil || m.Done == nil {
			t.Fatalf("%+v, %v", m, err)
		}
		for i := 0; i < 1_000_000 && runtime.NumGoroutine() > before+1; i++ {
			runtime.Gosched() // one that has ended counts until it is put away
		}
		if n := runtime.NumGoroutine() - before - 1; n > 0 {
			t.Errorf("%d goroutines run beside the worker that waits", n)
		}
	}
	fromOut.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
