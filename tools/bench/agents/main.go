// Command agents runs trials in which agents do the same tasks either with only Quarry's tools or
// with only a shell. The connection is kept open, and every message is logged. Afterwards judges,
// which the agents never see, decide whether the tasks were solved. README.md explains how to run a
// trial.
//
//	agents prepare -run q1 -arm quarry -profile code -kind fixes   trees, and the agent's brief
//	agents call RUN TASK TOOL < arguments.json                     the agent's command
//	agents sh RUN TASK < command                                   the same in an arm with a shell
//	agents judge RUN...                                            was it solved?
//	agents sum                                                     the table
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const usage = `agents COMMAND [flags] [arguments]; the folder of the trial is -dir, else $TRIAL.

  prepare  make the folder of one run, its trees and its index; print the brief for a fresh agent
  brief    print that brief again
  call     RUN TASK TOOL < arguments       one tool call, one turn
           RUN TASK < {"tool", "arguments"} … several calls, one turn
  sh       RUN TASK < command              one shell command, one turn
  answer   RUN TASK < text                 what the agent answers to a question, or says at the end (TASK "words")
  stop     RUN...                          end the servers of a run
  judge    RUN...                          run the hidden judges
  check    KIND...                         each judge fails on the untouched tree, and passes with the known solution
  replay   RUN...                          the logged calls on fresh trees; are the trees equal to the judged ones?
  sum      [RUN...]                        the table of the trial
`

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		fmt.Fprint(out, usage)
		return nil
	}
	command := args[0]
	flags := flag.NewFlagSet("agents "+command, flag.ContinueOnError)
	dir := flags.String("dir", os.Getenv("TRIAL"), "folder of the trial (default $TRIAL)")
	var p preparation
	var each float64
	var tasks bool
	sources := sourcePlaces{}
	switch command {
	case "prepare":
		flags.StringVar(&p.run, "run", "", "name of the run, as q1")
		flags.StringVar(&p.arm, "arm", "", strings.Join(arms, ", "))
		flags.StringVar(&p.kind, "kind", "fixes", "kind of task: "+kindNames())
		flags.StringVar(&p.program, "quarry", "quarry", "program of the other arms than shell")
		flags.StringVar(&p.profile, "profile", "quarry", "profile of the arms quarry and hooks")
		flags.StringVar(&p.tools, "tools", "", "only these tools, as --tools of quarry mcp")
		flags.StringVar(&p.version, "version", "", "what the table calls the program's version (default what it says, with its commit)")
		flags.Var(sources, "source", "where a source is: caddy=GIT DIRECTORY or linux=FOLDER; may be given several times")
	case "check", "replay":
		flags.Var(sources, "source", "where a source is, as for prepare")
	case "sum":
		flags.Float64Var(&each, "each", 0.1, "weight of the definitions in each turn after the first, in the second column of tokens")
		flags.BoolVar(&tasks, "tasks", false, "a line a task too")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *dir == "" {
		return fmt.Errorf("which trial? give -dir DIR, or set TRIAL")
	}
	abs, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	t := trial{dir: abs}
	if err := t.known(sources); err != nil {
		return err
	}
	rest := flags.Args()
	switch command {
	case "prepare":
		return t.prepare(p, out)
	case "brief":
		return t.eachRun(rest, func(r *runRecord) error { return t.brief(r, out) })
	case "call":
		if len(rest) != 2 && len(rest) != 3 {
			return fmt.Errorf("call takes RUN TASK TOOL, or RUN TASK")
		}
		return t.call(rest, in, out)
	case "sh":
		if len(rest) != 2 {
			return fmt.Errorf("sh takes RUN TASK")
		}
		return t.shell(rest[0], rest[1], in, out)
	case "answer":
		if len(rest) != 2 {
			return fmt.Errorf("answer takes RUN TASK")
		}
		return t.answer(rest[0], rest[1], in, out)
	case "serve": // started by call, not manually
		return t.eachRun(rest, t.serve)
	case "stop":
		return t.eachRun(rest, t.stop)
	case "judge":
		return t.eachRun(rest, func(r *runRecord) error { return t.judge(r, out) })
	case "check":
		return t.check(rest, out)
	case "replay":
		return t.eachRun(rest, func(r *runRecord) error { return t.replay(r, out) })
	case "sum":
		return t.sum(rest, each, tasks, out)
	}
	return fmt.Errorf("unknown command %q\n%s", command, usage)
}
