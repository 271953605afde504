package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// replay verifies the log: it repeats the logged calls on fresh trees and compares the results with
// the judged trees.
func (t trial) replay(r *runRecord, out io.Writer) error {
	if err := t.stop(r); err != nil {
		return err
	}
	k, err := readKind(r.Kind)
	if err != nil {
		return err
	}
	log, err := r.log()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(t.dir, "replay")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fresh := *r
	fresh.dir, fresh.Socket = dir, ""
	if err := os.MkdirAll(filepath.Join(dir, "home"), 0o755); err != nil {
		return err
	}
	different := 0
	for _, task := range k.Tasks {
		if err := t.plant(k, task, &fresh); err != nil {
			return err
		}
		n, err := t.again(r, &fresh, task.ID, log)
		if err != nil {
			return err
		}
		word := "equal"
		if diff, err := treesDiffer(r.tree(task.ID), fresh.tree(task.ID)); err != nil {
			return err
		} else if len(diff) > 0 {
			word = "DIFFERENT: " + strings.Join(diff, ", ")
			different++
		}
		fmt.Fprintf(out, "%s %s: %d calls replayed, trees %s\n", r.Name, task.ID, n, word)
	}
	if different > 0 {
		return fmt.Errorf("%d trees differ", different)
	}
	return nil
}

var changeID = regexp.MustCompile(`\[change ([a-z0-9]{6,16})|^([a-z0-9]{6,16})  \d{4}-`)

// again repeats the calls of one task. Ids of changes differ in every run, so it translates them.
func (t trial) again(r, fresh *runRecord, task string, log []entry) (int, error) {
	var s *mcp.ClientSession
	renamed := strings.NewReplacer(r.tree(task), fresh.tree(task), r.dir, fresh.dir)
	ids := map[string]string{}
	n := 0
	for _, e := range log {
		if e.Task != task {
			continue
		}
		for _, c := range e.Calls {
			if c.Tool == "invalid" {
				continue
			}
			n++
			arguments := renamed.Replace(c.Arguments)
			for old, id := range ids {
				arguments = strings.ReplaceAll(arguments, old, id)
			}
			if c.Tool == "sh" {
				if _, _, err := t.hooked(fresh, task, arguments); err != nil {
					return n, err
				}
				continue
			}
			if s == nil {
				var err error
				if s, err = t.connect(context.Background(), fresh, task, nil); err != nil {
					return n, err
				}
				defer s.Close()
			}
			answer := callTool(s, toolCall{Tool: c.Tool, Arguments: []byte(arguments)})
			before, now := changeID.FindAllStringSubmatch(c.Text, -1), changeID.FindAllStringSubmatch(answer.Text, -1)
			for i := range min(len(before), len(now)) {
				ids[before[i][1]+before[i][2]] = now[i][1] + now[i][2]
			}
		}
	}
	return n, nil
}

// treesDiffer returns the names of the files that differ between two trees.
func treesDiffer(a, b string) ([]string, error) {
	texts := map[string][]byte{}
	if err := files(a, func(path string, text []byte) error { texts[path] = text; return nil }); err != nil {
		return nil, err
	}
	var differ []string
	err := files(b, func(path string, text []byte) error {
		if old, ok := texts[path]; !ok || !bytes.Equal(old, text) {
			differ = append(differ, path)
		}
		delete(texts, path)
		return nil
	})
	return slices.Sorted(slices.Values(slices.AppendSeq(differ, maps.Keys(texts)))), err
}
