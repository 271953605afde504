package main

import (
	"archive/zip"
	"bytes"
	"context"
	"debug/macho"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path"
	"strings"
	"testing"
)

func TestPackIsReproducible(t *testing.T) {
	entries := []entry{{"manifest.json", []byte("{}"), 0o644}, {"server/quarry", bytes.Repeat([]byte("x"), 1000), 0o755}}
	first, err := pack(entries)
	if err != nil {
		t.Fatal(err)
	}
	second, err := pack(entries)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("the same entries give different files")
	}
	z, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name != entries[i].name || f.Mode() != entries[i].mode || !bytes.Equal(data, entries[i].data) {
			t.Errorf("entry %d is %s, mode %v, %d bytes", i, f.Name, f.Mode(), len(data))
		}
	}
}

// machO returns the smallest program that debug/macho can read: a header without load commands.
func machO(cpu uint32) []byte {
	b := make([]byte, 32)
	for i, n := range []uint32{macho.Magic64, cpu, 0, uint32(macho.TypeExec)} {
		binary.LittleEndian.PutUint32(b[4*i:], n)
	}
	return b
}

func TestUniversal(t *testing.T) {
	data := universal(machO(uint32(macho.CpuAmd64)), machO(uint32(macho.CpuArm64)))
	fat, err := macho.NewFatFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if len(fat.Arches) != 2 || fat.Arches[0].Cpu != macho.CpuAmd64 || fat.Arches[1].Cpu != macho.CpuArm64 {
		t.Fatalf("programs inside: %+v", fat.Arches)
	}
	for _, a := range fat.Arches {
		if a.Offset%(1<<14) != 0 || a.FatArchHeader.Cpu != a.FileHeader.Cpu {
			t.Errorf("%v begins at %d with a program for %v", a.FatArchHeader.Cpu, a.Offset, a.FileHeader.Cpu)
		}
	}
}

func TestServerJSON(t *testing.T) {
	template, err := os.ReadFile("../server.json")
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{"quarry.mcpb": "aa", "quarry-arm64.mcpb": "bb"}
	out, err := serverJSON(template, "1.2.3", sums)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), unreleased) {
		t.Errorf("%s is left in\n%s", unreleased, out)
	}
	var got struct {
		Packages []struct{ RegistryType, Identifier, FileSha256 string }
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for _, p := range got.Packages {
		name := path.Base(p.Identifier)
		if p.RegistryType == "mcpb" && (p.FileSha256 != sums[name] || !strings.HasSuffix(p.Identifier, "/v1.2.3/"+name)) {
			t.Errorf("%s has the sum %s", p.Identifier, p.FileSha256)
		}
	}
	for _, bad := range []string{`{"packages": []}`, `{"packages": [{"registryType": "mcpb", "identifier": "https://a/other.mcpb"}]}`} {
		if _, err := serverJSON([]byte(bad), "1.2.3", sums); err == nil {
			t.Errorf("%s is taken for two bundles", bad)
		}
	}
}

func TestVersion(t *testing.T) {
	for _, v := range []string{"", "v1.2.3", "1.2", "1.2.3 -X evil", "latest"} {
		if err := run(context.Background(), options{version: v, out: t.TempDir(), root: "../../.."}); err == nil {
			t.Errorf("version %q is taken", v)
		}
	}
	got, err := setVersion([]byte(`{"manifest_version": "0.3", "version": "0.0.0"}`), "1.2.3")
	if want := `{"manifest_version": "0.3", "version": "1.2.3"}`; err != nil || string(got) != want {
		t.Errorf("setVersion = %s, %v; want %s", got, err, want)
	}
	if _, err := setVersion([]byte(`{}`), "1.2.3"); err == nil {
		t.Error("a manifest without a version is taken")
	}
}
