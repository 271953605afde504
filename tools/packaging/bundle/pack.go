package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

type entry struct {
	name string
	data []byte
	mode fs.FileMode
}

// pack makes a zip file that depends only on the entries. It contains no times or owners.
func pack(entries []entry) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(e.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// universal combines two macOS programs into one file. A big-endian header gives the offset of each
// program, which is a multiple of 16 KiB, the page size of arm64.
func universal(amd64, arm64 []byte) []byte {
	const (
		magic                = 0xcafebabe
		page                 = 1 << 14
		cpuAMD64, subAMD64   = 0x01000007, 3
		cpuARM64, subARM64   = 0x0100000c, 0
		alignment            = 14 // the page size, as a power of two
		header, headerOfEach = 8, 20
	)
	round := func(n int) int { return (n + page - 1) / page * page }
	first := round(header + 2*headerOfEach)
	second := first + round(len(amd64))
	b := make([]byte, second+len(arm64))
	copy(b[first:], amd64)
	copy(b[second:], arm64)
	for i, n := range []int{
		magic, 2,
		cpuAMD64, subAMD64, first, len(amd64), alignment,
		cpuARM64, subARM64, second, len(arm64), alignment,
	} {
		binary.BigEndian.PutUint32(b[4*i:], uint32(n))
	}
	return b
}

// unreleased is the version in the committed manifests.
const unreleased = "0.0.0"

// setVersion sets the version in a bundle's manifest.
func setVersion(manifest []byte, version string) ([]byte, error) {
	const field = `"version": "` + unreleased + `"`
	if bytes.Count(manifest, []byte(field)) != 1 {
		return nil, errors.New("manifest.json has not one version " + unreleased)
	}
	return bytes.Replace(manifest, []byte(field), []byte(`"version": "`+version+`"`), 1), nil
}

// serverJSON fills in the template of server.json: the version, and by each bundle's name the
// checksum with which clients verify it.
func serverJSON(template []byte, version string, sums map[string]string) ([]byte, error) {
	text := strings.ReplaceAll(string(template), unreleased, version)
	var server map[string]any
	if err := json.Unmarshal([]byte(text), &server); err != nil {
		return nil, fmt.Errorf("server.json: %w", err)
	}
	packages, _ := server["packages"].([]any)
	found := 0
	for _, p := range packages {
		p, ok := p.(map[string]any)
		if !ok || p["registryType"] != "mcpb" {
			continue
		}
		address, _ := p["identifier"].(string)
		sum, ok := sums[path.Base(address)]
		if !ok {
			return nil, fmt.Errorf("server.json: %s is not a bundle that was built", address)
		}
		p["fileSha256"] = sum
		found++
	}
	if found != len(sums) {
		return nil, fmt.Errorf("server.json: %d packages of type mcpb for %d bundles", found, len(sums))
	}
	out, err := json.MarshalIndent(server, "", "  ")
	return append(out, '\n'), err
}
