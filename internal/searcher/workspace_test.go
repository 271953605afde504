package searcher_test

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
	must       = quarrytest.Must
	child      = quarrytest.Child
	answer     = quarrytest.Answer
	answerText = quarrytest.AnswerText
	slower     = quarrytest.Slower
	best       = quarrytest.Best
	mustSearch = quarrytest.Search
)

func second[T any](_ T, err error) error { return err }
