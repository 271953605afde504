package searcher_test

import (
	"context"

	"quarry/internal/quarrytest"
)

var (
	ctx = context.Background()

	workspace  = quarrytest.Workspace
	putFile    = quarrytest.PutFile
	child      = quarrytest.Child
	answer     = quarrytest.Answer
	answerText = quarrytest.AnswerText
	slower     = quarrytest.Slower
	best       = quarrytest.Best
	mustSearch = quarrytest.Search
)
