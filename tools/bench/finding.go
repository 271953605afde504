package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// build builds the program with the settings of a release.
func (b *bench) build() (string, error) {
	name, err := filepath.Abs(filepath.Join(b.work, "quarry"))
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", name, "./cmd/quarry")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as released
	cmd.Stderr = os.Stderr
	return name, cmd.Run()
}

// cost is the resource usage of one process.
type cost struct {
	wall, cpu time.Duration
	memory    int64 // peak, in KB
}

// maxRow limits the time for measuring a row if at least two rounds are done.
const maxRow = 4 * time.Second

// compare runs two commands in the tree in turn, so that other load affects both. It returns the
// best wall time, the least processor time and the largest memory of each.
func (b *bench) compare(ours, theirs []string) (q, r cost, err error) {
	q.wall, r.wall = 1<<62, 1<<62
	q.cpu, r.cpu = 1<<62, 1<<62
	for round, start := 0, time.Now(); round < b.rounds && (round < 2 || time.Since(start) < maxRow); round++ {
		for _, side := range []struct {
			args []string
			best *cost
		}{{ours, &q}, {theirs, &r}} {
			c, err := b.once(side.args)
			if err != nil {
				return q, r, err
			}
			side.best.wall = min(side.best.wall, c.wall)
			side.best.cpu = min(side.best.cpu, c.cpu)
			side.best.memory = max(side.best.memory, c.memory)
		}
	}
	return q, r, nil
}

func (b *bench) once(args []string) (cost, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = b.tree, b.env
	start := time.Now()
	err := cmd.Run()
	c := cost{wall: time.Since(start)}
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1) {
		return c, fmt.Errorf("%v: %w", args, err)
	}
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	c.memory = peakKB(cmd.ProcessState)
	return c, nil
}

func (b *bench) header(title string) {
	fmt.Fprintf(&b.table, "\n%s:\n\n| | Quarry | ripgrep | wall | processor | Quarry | ripgrep |\n|---|---:|---:|---:|---:|---:|---:|\n", title)
	fmt.Printf("\n%s\n%-44s %9s %9s %7s %7s %8s %8s\n", title, "", "quarry", "ripgrep", "wall", "cpu", "quarry", "ripgrep")
}

func (b *bench) row(name string, q, r cost) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	fmt.Fprintf(&b.table, "| %s | %.1f ms | %.1f ms | %.2f | %.2f | %d MB | %d MB |\n", strings.ReplaceAll(name, "|", "\\|"), ms(q.wall), ms(r.wall),
		q.wall.Seconds()/r.wall.Seconds(), q.cpu.Seconds()/r.cpu.Seconds(), q.memory>>10, r.memory>>10)
	fmt.Printf("%-44s %6.1f ms %6.1f ms %6.2fx %6.2fx %5d MB %5d MB\n", name,
		ms(q.wall), ms(r.wall),
		q.wall.Seconds()/r.wall.Seconds(), q.cpu.Seconds()/r.cpu.Seconds(), q.memory>>10, r.memory>>10)
}

// finding measures listings.
func (b *bench) finding() error {
	exe, err := b.build()
	if err != nil {
		return err
	}
	b.header("find: list all files, one process each (ratio below 1: quarry is faster)")
	q, r, err := b.compare([]string{exe, "find"}, []string{b.rg, "--no-config", "--no-require-git", "--files"})
	if err != nil {
		return err
	}
	b.row("find", q, r)
	q, r, err = b.compare([]string{exe, "--help"}, []string{b.rg, "--no-config", "--version"})
	if err != nil {
		return err
	}
	b.row("start-up", q, r)
	return nil
}
