package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// service is the content of a configuration file. The same keys occur in several places of a file.
type service struct {
	name, tier, region, registry, tag, owner string
	replicas, sidecars, pool, reserve        int
	timeout, retry                           string
	legacy                                   bool
}

// services maps the path of each of 60 configuration files to its content, after the change of a
// task.
func services(change string) map[string]service {
	all := map[string]service{}
	for i := range 60 {
		s := service{
			name:     fmt.Sprintf("%s-%02d", []string{"cart", "search", "mail", "billing", "login"}[i%5], i),
			tier:     []string{"web", "worker", "web-internal"}[i%3],
			region:   []string{"eu-1", "us-1", "eu-2", "ap-1"}[i%4],
			registry: []string{"core", "core-next", "edge"}[i%7%3],
			tag:      []string{"2.14.0", "2.14.3", "2.15.0", "2.1.40"}[i%11%4],
			owner:    []string{"", "platform", "payments"}[i%8%3],
			replicas: 2 + i%4, sidecars: 2 + i%3, pool: 10 + i%3*5, reserve: 10,
			timeout: []string{"20s", "1500ms", "45s", "0.5m", "2m", "29s"}[i%6],
			retry:   []string{"20s", "45s"}[i%2],
			legacy:  i%3 != 1,
		}
		switch change {
		case "replicas":
			if s.tier == "web" {
				s.replicas = 5
			}
		case "tag":
			if s.registry == "core" && strings.HasPrefix(s.tag, "2.14.") {
				s.tag = "2.15.0"
			}
		case "pool":
			if strings.HasPrefix(s.region, "eu-") {
				s.pool *= 2
			}
		case "timeout":
			if d, err := time.ParseDuration(s.timeout); err == nil && d < 30*time.Second {
				s.timeout = "30s"
			}
		case "legacy":
			s.legacy = s.legacy && s.tier == "worker"
		case "owner":
			if s.owner == "" {
				s.owner = "platform"
			}
		}
		all[fmt.Sprintf("services/%s/%s.%s", s.region, s.name, []string{"yaml", "toml", "json"}[i/2%3])] = s
	}
	return all
}

func (s service) text(format string) string {
	switch format {
	case ".yaml":
		return s.yaml()
	case ".toml":
		return s.toml()
	}
	return s.json()
}

func (s service) yaml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: replicas 2 until the load test, timeout 20s\nmetadata:\n  name: %s\n  tier: %s # web, worker or web-internal\n  region: %s\n", s.name, s.name, s.tier, s.region)
	if s.owner != "" {
		fmt.Fprintf(&b, "  owner: %s\n", s.owner)
	}
	fmt.Fprintf(&b, "deploy:\n  replicas: %d   # see capacity.md\n  image: \"registry.example.com/%s/app:%s\"\n  env:\n    - name: LOG_LEVEL\n      value: info\n", s.replicas, s.registry, s.tag)
	if s.legacy {
		b.WriteString("    - name: LEGACY_MODE\n      value: \"on\"\n")
	}
	fmt.Fprintf(&b, "    - name: LEGACY_MODE_HINT\n      value: LEGACY_MODE\nsidecar:\n  replicas: %d\n  image: registry.example.com/%s/proxy:%s\nhttp:\n  timeout: %s\n  retry: {timeout: %s, count: 3}\ndatabase:\n  pool: { max: %d, reserve: { max: %d } }\n", s.sidecars, s.registry, "2.14.0", s.timeout, s.retry, s.pool, s.reserve)
	return b.String()
}

func (s service) toml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: replicas = 2 until the load test, timeout = \"20s\"\n[metadata]\nname = %q\ntier = '%s' # web, worker or web-internal\nregion = %q\n", s.name, s.name, s.tier, s.region)
	if s.owner != "" {
		fmt.Fprintf(&b, "owner = %q\n", s.owner)
	}
	fmt.Fprintf(&b, "\n[deploy]\nreplicas = %d   # see capacity.md\nimage = 'registry.example.com/%s/app:%s'\nenv = [\n  { name = \"LOG_LEVEL\", value = \"info\" },\n", s.replicas, s.registry, s.tag)
	if s.legacy {
		b.WriteString("  { name = \"LEGACY_MODE\", value = \"on\" },\n")
	}
	fmt.Fprintf(&b, "  { name = \"LEGACY_MODE_HINT\", value = \"LEGACY_MODE\" },\n]\n\n[sidecar]\nreplicas = %d\nimage = \"registry.example.com/%s/proxy:2.14.0\"\n\n[http]\ntimeout = %q\nretry = { timeout = %q, count = 3 }\n\n[database.pool]\nmax = %d\nreserve.max = %d\n", s.sidecars, s.registry, s.timeout, s.retry, s.pool, s.reserve)
	return b.String()
}

func (s service) json() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"metadata\": {\n    \"name\": %q,\n    \"tier\": %q,\n    \"region\": %q", s.name, s.tier, s.region)
	if s.owner != "" {
		fmt.Fprintf(&b, ",\n    \"owner\": %q", s.owner)
	}
	fmt.Fprintf(&b, "\n  },\n  \"deploy\": {\n    \"replicas\": %d,\n    \"image\": \"registry.example.com/%s/app:%s\",\n    \"env\": [\n      {\"name\": \"LOG_LEVEL\", \"value\": \"info\"},\n", s.replicas, s.registry, s.tag)
	if s.legacy {
		b.WriteString("      {\"name\": \"LEGACY_MODE\", \"value\": \"on\"},\n")
	}
	fmt.Fprintf(&b, "      {\"name\": \"LEGACY_MODE_HINT\", \"value\": \"LEGACY_MODE\"}\n    ]\n  },\n  \"sidecar\": {\"replicas\": %d, \"image\": \"registry.example.com/%s/proxy:2.14.0\"},\n  \"http\": {\"timeout\": %q, \"retry\": {\"timeout\": %q, \"count\": 3}},\n  \"database\": {\"pool\": {\"max\": %d, \"reserve\": {\"max\": %d}}}\n}\n", s.sidecars, s.registry, s.timeout, s.retry, s.pool, s.reserve)
	return b.String()
}

func writeServices(dir, change string) error {
	for name, s := range services(change) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(s.text(filepath.Ext(name))), 0o644); err != nil {
			return err
		}
	}
	return nil
}

var comment = regexp.MustCompile(`#.*`)

// decideServices compares the files with those that the change should make: the values must be
// equal, all comments must still be there, and no more lines may be new than the change needs.
func decideServices(tree, change string, fail func(string, ...any)) error {
	now := map[string][]byte{}
	if err := files(tree, func(name string, text []byte) error { now[name] = text; return nil }); err != nil {
		return err
	}
	old := services("")
	for name, s := range services(change) {
		format := filepath.Ext(name)
		text, expected := now[name], []byte(s.text(format))
		delete(now, name)
		got, err := parsed(format, text)
		want, _ := parsed(format, expected)
		first := []byte(old[name].text(format))
		switch {
		case err != nil:
			fail("%s: %v", name, err)
		case !reflect.DeepEqual(got, want):
			fail("%s has wrong values", name)
		case !slices.EqualFunc(comment.FindAll(text, -1), comment.FindAll(expected, -1), bytes.Equal):
			fail("%s: comments changed", name)
		case newLines(first, text) > newLines(first, expected)+1:
			fail("%s has %d new lines, %d needed", name, newLines(first, text), newLines(first, expected))
		}
	}
	for name := range now {
		fail("%s is new", name)
	}
	return nil
}

func parsed(format string, text []byte) (v any, err error) {
	switch format {
	case ".yaml":
		err = yaml.Unmarshal(text, &v)
	case ".toml":
		err = toml.Unmarshal(text, &v)
	default:
		err = json.Unmarshal(text, &v)
	}
	return v, err
}
