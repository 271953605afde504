// Command publish sets the place where the project is published. The committed source has the
// module path "quarry", and the word OWNER in place of a publisher's account, so it can be neither
// fetched nor released.
//
//	scripts/tool packaging/publish -module github.com/acme/quarry
//	scripts/tool packaging/publish -check
//
// The first command rewrites the module path, all imports, and the names of the repository, the
// image and the registry entry. It can be repeated with another path. The second command fails
// unless this has been done completely; a release runs it first.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("publish: ")
	module := flag.String("module", "", "the module `path`, as github.com/acme/quarry")
	image := flag.String("image", "", "the `name` of the container image; ghcr.io/OWNER/quarry for a module on GitHub")
	root := flag.String("source", ".", "the `folder` of the source")
	check := flag.Bool("check", false, "only say whether a release can be made")
	flag.Parse()
	if err := run(*root, *module, *image, *check); err != nil {
		log.Fatal(err)
	}
}

func run(root, module, image string, check bool) error {
	if check {
		return ready(root)
	}
	if module == "" {
		return errors.New("say where: -module github.com/acme/quarry")
	}
	to, err := parsePlace(module, image)
	if err != nil {
		return err
	}
	n, err := rewrite(root, to)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "%s: %d files rewritten; now: go build ./... && go test ./...\n", module, n)
	return ready(root)
}
