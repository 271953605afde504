package fault_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quarry"
	"quarry/fault"
)

// A path can't leave the folder, and some of its files are protected.
func ExampleCodeOf() {
	dir, err := os.MkdirTemp("", "quarry-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("TOKEN=secret\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	ws, err := quarry.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	for _, path := range []string{"../state", ".env", "missing.txt"} {
		_, err := ws.Read(context.Background(), path, nil)
		fmt.Println(fault.CodeOf(err))
	}
	// Output:
	// OUTSIDE_ROOT
	// PROTECTED_PATH
	// NOT_FOUND
}
