//go:build linux

// Command picture makes the README's pictures from real runs of the program.
//
//	scripts/tool picture                 docs/quarry.svg: the program in a terminal
//	scripts/tool picture -page           docs/page.png: the local page
//	scripts/tool picture -page -all DIR  every view of it in both themes and widths
//
// For the terminal it builds the program, makes a small project, runs the commands of the session
// on a pseudo-terminal and draws the output. It fails if the output has an unknown escape sequence,
// so the picture is what a terminal shows. The tests fail if the program's output no longer agrees
// with the picture.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	ofPage := flag.Bool("page", false, "photograph the local page instead of a terminal")
	all := flag.String("all", "", "with -page: write every view to this `folder`")
	root := flag.String("root", "", "with -page: of this `folder` instead of the project made up")
	flag.Parse()
	if err := run(context.Background(), *ofPage, *all, *root); err != nil {
		log.Fatal("picture: ", err)
	}
}

func run(ctx context.Context, ofPage bool, all, root string) error {
	dir, err := os.MkdirTemp("", "quarry-picture")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "quarry")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/quarry")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	if ofPage {
		return takePage(ctx, program, dir, all, root)
	}
	screen, err := record(ctx, program, dir)
	if err != nil {
		return err
	}
	return os.WriteFile("docs/quarry.svg", draw(screen), 0o644)
}

// writeProject makes the files of a demonstration.
func writeProject(dir string, files map[string]string) error {
	var err error
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	return err
}

// session lists the commands to type, as lists of words.
var session = [][]string{
	{"search", "retries"},
	{"search", "-t", "md", "how often"},
	{"mv", "notes/Limits.md", "notes/Client limits.md"},
	{"edit", "client/client.go", "--old", "retries = 2", "--new", "retries = 5", "--diff"},
	{"undo"},
}

// project holds the files used in the session.
var project = map[string]string{
	".obsidian/app.json": `{"alwaysUpdateLinks": true}`,
	"notes/Index.md":     "# Index\n\n- [[Limits]] of the client\n- why: [limits](Limits.md)\n",
	"notes/Limits.md":    "# Limits\n\nA request has two retries, then the caller hears of it.\n",
	"client/client.go": `package client

// retries is how often a request is tried.
const retries = 2

// Do sends a request and tries again when the server is busy.
func (c *Client) Do(r *Request) (*Response, error) {
	for try := 1; ; try++ {
		res, err := c.send(r)
		if !busy(err) || try == retries {
			return res, err
		}
	}
}
`,
}

// record runs the session below dir and returns the contents of the screen.
func record(ctx context.Context, program, dir string) ([]line, error) {
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "project")
	if err := errors.Join(os.Mkdir(home, 0o700), writeProject(work, project)); err != nil {
		return nil, err
	}
	env := append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home,
		"XDG_RUNTIME_DIR="+home, "TERM=xterm-256color", "NO_COLOR=", "COLUMNS=", "LANG=C.UTF-8")
	var screen []line
	for i, args := range session {
		if i > 0 {
			screen = append(screen, nil)
		}
		screen = append(screen, prompt(args)...)
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir, cmd.Env = work, env
		out, err := onTerminal(cmd)
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			return nil, err
		}
		shown, err := parse(bytes.TrimRight(out, "\r\n"))
		if err != nil {
			return nil, fmt.Errorf("quarry %q: %w\n%q", args, err, out)
		}
		screen = append(screen, shown...)
	}
	return screen, nil
}
