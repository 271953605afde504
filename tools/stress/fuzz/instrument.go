package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Go's fuzzing adds a counter to every branch of every package in a test program, including the
// standard library. After each execution all counters are copied and compared, and each new finding
// is sent with all of them as JSON. In a program that contains all of Quarry, this took five times
// as long as the target itself. So only Quarry's own packages get counters: the go command runs
// this program in place of the compiler, and for other packages this program removes the flag.

// asCompiler is the environment variable that makes this program act as a tool of the go command.
const asCompiler = "QUARRY_FUZZ_COMPILER"

// instrumented is the flag that makes Go's compiler add counters.
const instrumented = "-d=libfuzzer"

// runTool runs a tool for the go command, but removes the flag for counters in other packages.
func runTool(args []string) int {
	name := args[0]
	if of := slices.Index(args, "-p"); of >= 0 && of+1 < len(args) && !ours(args[of+1]) {
		args = slices.DeleteFunc(args, func(a string) bool { return a == instrumented })
	}
	cmd := exec.Command(name, args[1:]...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	if !slices.Contains(args, "-V=full") {
		cmd.Stdout = os.Stdout
		return exitCode(cmd.Run())
	}
	// Report another compiler version than Go's. Otherwise the go command would reuse packages
	// built with counters.
	out, err := cmd.Output()
	fmt.Println(strings.TrimRight(string(out), "\n") + " counters=" + module)
	return exitCode(err)
}

const module = "quarry"

func ours(pkg string) bool {
	return pkg == module || pkg == "main" || strings.HasPrefix(pkg, module+"/") || strings.HasPrefix(pkg, module+"_test")
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := err.(*exec.ExitError); ok {
		return e.ExitCode()
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}
