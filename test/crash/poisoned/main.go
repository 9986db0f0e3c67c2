// Command poisoned is the service with two defects for tests: an event whose
// payload holds the word KILL ends the process when it is applied, and one with
// the word PANIC makes the receiver panic.
//
//	poisoned serve --config bridge.yaml [--debug]
package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"syscall"

	"sfbridge/bridge/app"
	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/bridge/poll"
	"sfbridge/bridge/receive"
	"sfbridge/bridge/stage"
	"sfbridge/test/service"
)

func main() {
	service.Main(func(o *app.Options) {
		log := o.Log
		o.Seams = app.Seams{
			Applier: func(a poll.Applier) poll.Applier { return applier{a, log} },
			Stager:  func(s receive.Stager) receive.Stager { return stager{s} },
		}
	})
}

type applier struct {
	poll.Applier
	log *slog.Logger
}

// Apply dies of a poisonous payload as a process does that runs out of memory:
// at once; only the size of the batch is told.
func (a applier) Apply(ctx context.Context, batch []*event.Event) (apply.Report, error) {
	for _, e := range batch {
		if bytes.Contains(e.Payload, []byte("KILL")) {
			a.log.Info("dying", "batch", len(batch))
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal is there
		}
	}
	return a.Applier.Apply(ctx, batch)
}

type stager struct{ receive.Stager }

// Stage panics with the event's own text, as a defect may.
func (s stager) Stage(ctx context.Context, requests []stage.Request) []stage.Answer {
	for _, r := range requests {
		if bytes.Contains(r.Event.Payload, []byte("PANIC")) {
			panic(string(r.Event.Payload))
		}
	}
	return s.Stager.Stage(ctx, requests)
}
