package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// npmName matches valid package names of the npm registry.
var npmName = regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$`)

// npmPlatform returns npm's names for a target.
func npmPlatform(target string) (system, processor string) {
	goos, goarch, _ := strings.Cut(target, "/")
	system, processor = goos, goarch
	if goos == "windows" {
		system = "win32"
	}
	if goarch == "amd64" {
		processor = "x64"
	}
	return system, processor
}

// npmPackage is a package.json. Its members are in the same order as in npm's documentation.
type npmPackage struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	Keywords     []string          `json:"keywords,omitempty"`
	License      string            `json:"license"`
	Repository   string            `json:"repository,omitempty"`
	Files        []string          `json:"files"`
	Bin          map[string]string `json:"bin,omitempty"`
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	Engines      map[string]string `json:"engines,omitempty"`
	Optional     map[string]string `json:"optionalDependencies,omitempty"`
	MCPName      string            `json:"mcpName,omitempty"` // the MCP registry compares it with the name in server.json
	PreferUnplug bool              `json:"preferUnplugged,omitempty"`
}

// npmPackages writes one folder per package. NAME has the launcher; NAME-linux-x64 and so on have
// the programs, of which npm installs the one for the platform. No package has an install script,
// so installing runs nothing.
func npmPackages(o options, programs map[string][]byte) error {
	var manifest struct {
		Description string
		Keywords    []string
	}
	var entry struct {
		Name       string
		Repository struct{ URL string }
	}
	for file, into := range map[string]any{"tools/packaging/mcpb/manifest.json": &manifest, "tools/packaging/server.json": &entry} {
		data, err := os.ReadFile(filepath.Join(o.root, filepath.FromSlash(file)))
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	main := npmPackage{
		Name: o.npm, Version: o.version, Description: manifest.Description, Keywords: append([]string{"mcp"}, manifest.Keywords...), License: "MIT",
		Files: []string{"bin"}, Bin: map[string]string{"quarry": "bin/quarry.js"}, Engines: map[string]string{"node": ">=18"}, Optional: map[string]string{},
	}
	if !strings.Contains(entry.Repository.URL, "OWNER") {
		main.Repository, main.MCPName = entry.Repository.URL, entry.Name
	}
	license, err := os.ReadFile(filepath.Join(o.root, "LICENSE"))
	if err != nil {
		return err
	}
	for target, program := range programs {
		system, processor := npmPlatform(target)
		p := npmPackage{
			Name: fmt.Sprintf("%s-%s-%s", o.npm, system, processor), Version: o.version, License: "MIT", Repository: main.Repository,
			Description: fmt.Sprintf("The program of %s for %s on %s.", o.npm, system, processor),
			Files:       []string{"bin"}, OS: []string{system}, CPU: []string{processor}, PreferUnplug: true,
		}
		main.Optional[p.Name] = o.version
		file := "bin/quarry"
		if system == "win32" {
			file += ".exe"
		}
		readme := fmt.Sprintf("# %s\n\n%s Install %s, which chooses it.\n", p.Name, p.Description, o.npm)
		if err := writePackage(o, &p, []packageFile{{file, program, 0o755}, {"LICENSE", license, 0o644}, {"README.md", []byte(readme), 0o644}}); err != nil {
			return err
		}
	}
	launcher, err := os.ReadFile(filepath.Join(o.root, "tools", "packaging", "npm", "quarry.js"))
	if err != nil {
		return err
	}
	readme, err := os.ReadFile(filepath.Join(o.root, "tools", "packaging", "npm", "README.md"))
	if err != nil {
		return err
	}
	readme = bytes.ReplaceAll(readme, []byte("NAME"), []byte(o.npm))
	return writePackage(o, &main, []packageFile{{"bin/quarry.js", launcher, 0o755}, {"LICENSE", license, 0o644}, {"README.md", readme, 0o644}})
}

type packageFile struct {
	name string
	data []byte
	mode os.FileMode
}

// writePackage deletes and recreates the folder of a package, because files of an earlier version
// would be published too.
func writePackage(o options, p *npmPackage, files []packageFile) error {
	dir := filepath.Join(o.out, "npm", strings.ReplaceAll(strings.TrimPrefix(p.Name, "@"), "/", "-"))
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p); err != nil {
		return err
	}
	size := 0
	for _, f := range slices.Concat(files, []packageFile{{"package.json", text.Bytes(), 0o644}}) {
		file := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, f.data, f.mode); err != nil {
			return err
		}
		if err := os.Chmod(file, f.mode); err != nil { // npm packs the file's mode
			return err
		}
		size += len(f.data)
	}
	fmt.Printf("%s  %s, %d bytes\n", dir, p.Name, size)
	return nil
}
