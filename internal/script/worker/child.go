package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"quarry/internal/script"
)

// Messages between the server and its worker, one JSON value a line each.
type (
	toWorker struct {
		Run    *start  `json:"run,omitempty"`
		Answer *answer `json:"answer,omitempty"`
	}
	start struct {
		script.Job
		Memory    int64 `json:"memory"`    // bytes
		Processor int   `json:"processor"` // seconds
	}
	answer struct {
		Value json.RawMessage `json:"value,omitempty"`
		Error *script.Error   `json:"error,omitempty"`
	}
	fromWorker struct {
		Ask  *ask            `json:"ask,omitempty"`
		Done *script.Outcome `json:"done,omitempty"`
	}
	ask struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
)

// Main is the worker: it runs the scripts that come from in, one after another,
// until in ends. It opens nothing; all it knows comes over in.
func Main(in io.Reader, out io.Writer) error {
	read := json.NewDecoder(bufio.NewReaderSize(in, 64<<10))
	w := bufio.NewWriterSize(out, 64<<10)
	write := json.NewEncoder(w)
	write.SetEscapeHTML(false)
	send := func(m fromWorker) error {
		if err := write.Encode(m); err != nil {
			return err
		}
		return w.Flush()
	}
	bounded := false
	for {
		var m toWorker
		if err := read.Decode(&m); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if m.Run == nil {
			return errors.New("a script was expected")
		}
		if !bounded {
			if err := bound(m.Run.Memory, m.Run.Processor); err != nil {
				return fmt.Errorf("limits: %w", err)
			}
			bounded = true
		}
		var broken error
		unwatched := watch(m.Run.Memory)
		done := script.Run(m.Run.Job, func(name string, args json.RawMessage) (json.RawMessage, error) {
			if broken = send(fromWorker{Ask: &ask{name, args}}); broken != nil {
				return nil, broken
			}
			var m toWorker
			if broken = read.Decode(&m); broken != nil || m.Answer == nil {
				return nil, errors.Join(broken, errors.New("the server is gone"))
			}
			if m.Answer.Error != nil {
				return nil, m.Answer.Error
			}
			return m.Answer.Value, nil
		})
		unwatched()
		if broken != nil {
			return broken
		}
		if err := send(fromWorker{Done: &done}); err != nil {
			return err
		}
	}
}
