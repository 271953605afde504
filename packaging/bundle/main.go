// Command bundle builds the MCP bundle (quarry.mcpb), which desktop clients
// install with a double click, and the server.json that tells the MCP registry
// of it.
//
//	go run ./packaging/bundle -version 1.2.3 -out bin/release
//	go run ./packaging/bundle -version 1.2.3 -out bin/release -owner NAME
//
// One file serves every desktop: a universal binary for macOS, the amd64 ones
// for Windows and Linux. The same source and version give the same bytes.
// With -owner, the account on GitHub that publishes it, server.json is written
// as well.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.version, "version", "", "the `version` to stamp, as 1.2.3")
	flag.StringVar(&o.out, "out", "bin/release", "the `folder` to write to")
	flag.StringVar(&o.owner, "owner", "", "write server.json too, for this `account`")
	flag.StringVar(&o.root, "source", ".", "the `folder` of the source")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal("bundle: ", err)
	}
}

type options struct{ version, out, owner, root string }

// semver is what both manifests take for a version.
var semver = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func run(ctx context.Context, o options) error {
	if !semver.MatchString(o.version) {
		return fmt.Errorf("-version %q: want one like 1.2.3", o.version)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	binaries := map[string][]byte{}
	for _, target := range []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "windows/amd64"} {
		data, err := build(ctx, o, target)
		if err != nil {
			return err
		}
		binaries[target] = data
	}
	manifest, err := os.ReadFile(filepath.Join(o.root, "packaging", "mcpb", "manifest.json"))
	if err != nil {
		return err
	}
	if manifest, err = setVersion(manifest, o.version); err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(o.root, "LICENSE"))
	if err != nil {
		return err
	}
	data, err := pack([]entry{
		{"manifest.json", manifest, 0o644},
		{"LICENSE", license, 0o644},
		{"server/quarry-darwin", universal(binaries["darwin/amd64"], binaries["darwin/arm64"]), 0o755},
		{"server/quarry-linux", binaries["linux/amd64"], 0o755},
		{"server/quarry.exe", binaries["windows/amd64"], 0o755},
	})
	if err != nil {
		return err
	}
	name := filepath.Join(o.out, "quarry.mcpb")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s  %d bytes\n", name, len(data))
	if o.owner == "" {
		return nil
	}
	template, err := os.ReadFile(filepath.Join(o.root, "packaging", "server.json"))
	if err != nil {
		return err
	}
	server, err := serverJSON(template, o, data)
	if err != nil {
		return err
	}
	name = filepath.Join(o.out, "server.json")
	fmt.Println(name)
	return os.WriteFile(name, server, 0o644)
}

// ldflags are those of every release; .goreleaser.yaml and the Dockerfile have
// the same, and a test compares them.
func ldflags(version string) string {
	return "-s -w -buildid= -X quarry/internal/cli.stamped=v" + version
}

// build compiles the program for a target, as releases are compiled.
func build(ctx context.Context, o options, target string) ([]byte, error) {
	file := filepath.Join(o.out, "quarry-"+strings.ReplaceAll(target, "/", "-"))
	defer os.Remove(file)
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags(o.version), "-o", abs, "./cmd/quarry")
	cmd.Dir = o.root
	goos, goarch, _ := strings.Cut(target, "/")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build for %s: %w\n%s", target, err, out)
	}
	return os.ReadFile(file)
}
