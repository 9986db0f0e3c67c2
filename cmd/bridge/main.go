// Command bridge turns providers' webhooks into Salesforce records. Run it
// without arguments for the list of commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(untilSignal(), os.Args[1:], system()))
}

// untilSignal is over at the first SIGTERM or interrupt. By then a second one has
// its usual effect again: it ends the process at once.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals)
		cancel()
		select {
		case s := <-signals: // it came before the first was taken
			_ = syscall.Kill(os.Getpid(), s.(syscall.Signal))
		default:
		}
	}()
	return ctx
}
