package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/internal/rootfs/outside"
)

// withRipgrepConfig inserts the arguments of ripgrep's configuration file before those of quarry
// rg. For quarry search it does so only if QUARRY_RIPGREP_CONFIG=1 is set, because the file was
// written for another program. The file can't name a program to run, since it may belong to an
// untrusted workspace. If it can't be read, the error is written to w and the search continues, as
// in ripgrep.
func withRipgrepConfig(args []string, getenv func(string) string, w io.Writer) ([]string, error) {
	name := getenv("RIPGREP_CONFIG_PATH")
	if name == "" || len(args) == 0 || args[0] != "rg" && (args[0] != "search" || getenv("QUARRY_RIPGREP_CONFIG") != "1") || slices.Contains(args, "--no-config") {
		return args, nil
	}
	data, _, err := outside.Read(name, 1<<20)
	if err != nil {
		fmt.Fprintf(w, "rg: RIPGREP_CONFIG_PATH: %s\n", printing.EscapeLines(env.PathError(name, err).Error()))
		return args, nil
	}
	var more []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			if flag, _, _ := strings.Cut(line, "="); flag == "--pre" || flag == "--hostname-bin" {
				return nil, fmt.Errorf("%s: %s names a program to run, which is allowed only on the command line", name, flag)
			}
			more = append(more, line)
		}
	}
	return slices.Concat(args[:1], more, args[1:]), nil
}
