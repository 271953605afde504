// Command bundle builds the MCP bundles, which desktop clients install with a double click, and the
// server.json that announces them to the MCP registry.
//
//	scripts/tool packaging/bundle -version 1.2.3 -out bin/release
//
// quarry.mcpb is for desktops on amd64 and, with a universal binary, for all Macs.
// quarry-arm64.mcpb is for Windows and Linux on arm64. There are two files because a bundle can
// select a program by system but not by processor. The same source and version give the same bytes.
// server.json is written only if the source says where it is published; see packaging/publish.
//
//	scripts/tool packaging/bundle -version 1.2.3 -npm NAME -out bin/release
//
// writes npm packages of the same programs instead; make npm runs it.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	flag.StringVar(&o.root, "source", ".", "the `folder` of the source")
	flag.StringVar(&o.npm, "npm", "", "write the npm packages of this `name` instead of bundles")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal("bundle: ", err)
	}
}

type options struct{ version, out, root, npm string }

// semver matches the versions that both manifests accept.
var semver = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func run(ctx context.Context, o options) error {
	if !semver.MatchString(o.version) {
		return fmt.Errorf("-version %q: want one like 1.2.3", o.version)
	}
	if o.npm != "" && !npmName.MatchString(o.npm) {
		return fmt.Errorf("-npm %q: want a name that the npm registry takes, as quarry-mcp or @acme/quarry", o.npm)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	programs := map[string][]byte{}
	for _, target := range []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64"} {
		data, err := build(ctx, o, target)
		if err != nil {
			return err
		}
		programs[target] = data
	}
	if o.npm != "" {
		return npmPackages(o, programs)
	}
	sums := map[string]string{}
	for name, arch := range map[string]string{"quarry.mcpb": "amd64", "quarry-arm64.mcpb": "arm64"} {
		data, err := bundle(o, programs, arch)
		if err != nil {
			return err
		}
		file := filepath.Join(o.out, name)
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s  %d bytes\n", file, len(data))
		sum := sha256.Sum256(data)
		sums[name] = hex.EncodeToString(sum[:])
	}
	template, err := os.ReadFile(filepath.Join(o.root, "tools", "packaging", "server.json"))
	if err != nil {
		return err
	}
	file := filepath.Join(o.out, "server.json")
	if bytes.Contains(template, []byte("OWNER")) {
		fmt.Printf("%s  not written: the source says nowhere that it is published (make publish-as)\n", file)
		return nil
	}
	server, err := serverJSON(template, o.version, sums)
	if err != nil {
		return err
	}
	fmt.Println(file)
	return os.WriteFile(file, server, 0o644)
}

// bundle returns the bundle for one processor.
func bundle(o options, programs map[string][]byte, arch string) ([]byte, error) {
	manifest, err := os.ReadFile(filepath.Join(o.root, "tools", "packaging", "mcpb", "manifest.json"))
	if err != nil {
		return nil, err
	}
	if manifest, err = setVersion(manifest, o.version); err != nil {
		return nil, err
	}
	license, err := os.ReadFile(filepath.Join(o.root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	return pack([]entry{
		{"manifest.json", manifest, 0o644},
		{"LICENSE", license, 0o644},
		{"server/quarry-darwin", universal(programs["darwin/amd64"], programs["darwin/arm64"]), 0o755},
		{"server/quarry-linux", programs["linux/"+arch], 0o755},
		{"server/quarry.exe", programs["windows/"+arch], 0o755},
	})
}

// ldflags returns the linker flags of all releases. .goreleaser.yaml and the Dockerfile repeat
// them; a test checks that they agree.
func ldflags(version string) string {
	return "-s -w -buildid= -X quarry/internal/cli/env.stamped=v" + version
}

// build compiles the program for a target with the settings of a release.
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
