// Command quarry searches a workspace and changes files in it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"quarry/internal/cli"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	if cli.ChangesNothing(os.Args[1:]) {
		// Listening for signals starts threads, and most searches end before a person could
		// interrupt them. Until then, a signal simply ends the process.
		time.AfterFunc(patience, func() { listen(cancel) })
	} else {
		listen(cancel)
	}
	code := cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	os.Exit(code)
}

const patience = 30 * time.Millisecond

// listen cancels at the first ^C; a second one ends the program at once.
func listen(cancel context.CancelFunc) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals)
		cancel()
	}()
}
