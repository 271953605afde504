package quarry_test

import (
	"context"

	"quarry/internal/quarrytest"
)

var (
	ctx = context.Background()

	putFile  = quarrytest.PutFile
	snapshot = quarrytest.Snapshot
)

func second[T any](_ T, err error) error { return err }
