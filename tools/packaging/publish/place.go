package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A place is where the project is published, with the names derived from it.
type place struct {
	module   string // github.com/acme/quarry
	host     string // github.com
	owner    string // acme
	image    string // ghcr.io/acme/quarry
	registry string // io.github.acme/quarry, the name in the MCP registry
}

// unpublished is the place in the committed files.
var unpublished = place{
	module: "quarry", host: "github.com", owner: "OWNER",
	image: "ghcr.io/OWNER/quarry", registry: "io.github.OWNER/quarry",
}

var (
	hostName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+$`)
	element  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
)

// parsePlace parses a module path. Its last element must be quarry, because that is the name of the
// package to import, of the program and of its files.
func parsePlace(module, image string) (place, error) {
	parts := strings.Split(module, "/")
	fail := func(why string) (place, error) {
		return place{}, fmt.Errorf("-module %s: %s; want a path like github.com/acme/quarry", module, why)
	}
	if len(parts) != 3 {
		return fail("needs a host, an owner and a name")
	}
	if !hostName.MatchString(parts[0]) {
		return fail(parts[0] + " is not a host")
	}
	for _, p := range parts[1:] {
		if !element.MatchString(p) {
			return fail(fmt.Sprintf("%q can't be part of a module path", p))
		}
	}
	if parts[2] != "quarry" {
		return fail("the last element has to be quarry")
	}
	to := place{module: module, host: parts[0], owner: parts[1], image: image}
	switch {
	case to.host == "github.com":
		to.registry = "io.github." + to.owner + "/quarry"
		if to.image == "" {
			to.image = "ghcr.io/" + strings.ToLower(to.owner) + "/quarry"
		}
	case to.image == "":
		return place{}, fmt.Errorf("-image: say what the container image is called; %s is not GitHub, whose registry would be assumed", to.host)
	default:
		// For other hosts, the registry uses a domain that the publisher can prove to own.
		labels := strings.Split(to.host, ".")
		slices.Reverse(labels)
		to.registry = strings.Join(labels, ".") + "." + to.owner + "/quarry"
	}
	return to, nil
}

// repository returns the web address of the source.
func (p place) repository() string { return "https://" + p.host + "/" + p.owner + "/quarry" }

// source returns the registry's name for the repository's host.
func (p place) source() string {
	name, _, _ := strings.Cut(p.host, ".")
	return name
}
