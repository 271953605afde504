package changer_test

import (
	"context"

	"quarry/internal/quarrytest"
)

var (
	ctx = context.Background()

	workspace  = quarrytest.Workspace
	changeable = quarrytest.Changeable
	put        = quarrytest.Put
	putFile    = quarrytest.PutFile
	content    = quarrytest.Content
	must       = quarrytest.Must
	snapshot   = quarrytest.Snapshot
	child      = quarrytest.Child
	answer     = quarrytest.Answer
	slower     = quarrytest.Slower
	best       = quarrytest.Best
)
