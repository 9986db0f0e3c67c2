package app

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/bridge/outbound"
	"sfbridge/bridge/reconcile"
	"sfbridge/bridge/stage"
	"sfbridge/bridge/store"
)

// Bounds of a page of a provider's list, which is larger than other answers.
const (
	listBytes = 8 << 20
	listWait  = 30 * time.Second
)

// newReconciler makes the part that compares with the providers' truth. Repairs
// go through the receiver's stager, or one of their own where nothing is
// received.
func (b *Bridge) newReconciler() (*reconcile.Reconciler, error) {
	b.lists = outbound.New(outbound.Config{Allow: b.cfg.Outbound.Allow, MaxBytes: listBytes, Timeout: listWait})
	cfg := reconcile.Config{
		Org: b.org, HTTP: b.lists, Comparisons: b.comparisons, Stage: b.stageRepairs,
		Credential: func(source, auth string) (string, bool) {
			value, known := b.sources.Load().outgoing.credentials[[2]string{source, auth}]
			return value, known
		},
		Notes: store.OpenNotes(b.cfg.Store.Dir), Leases: b.leases("reconcile"), Owner: owner(),
		Metrics: b.metrics, Log: b.log, DailyBudget: b.cfg.Salesforce.DailyBudget, Usage: b.usage,
	}
	if b.store != nil {
		cfg.Journal = b.store.Journal()
	}
	return reconcile.New(cfg)
}

// comparisons are those of the mappings as they stand now, by source.
func (b *Bridge) comparisons() []reconcile.Comparison {
	var list []reconcile.Comparison
	sources := b.sources.Load().byName
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		for _, plan := range sources[name].Mapping.Reconciles() {
			list = append(list, reconcile.Comparison{Mapping: sources[name].Mapping, Plan: plan, Maker: sources[name].Identifier})
		}
	}
	return list
}

// stageRepairs makes repairs durable, and due.
func (b *Bridge) stageRepairs(ctx context.Context, events []*event.Event) []error {
	stager := b.stager
	if stager == nil {
		stager = stage.New(stage.Config{Salesforce: b.org, Shared: b.confirmed(), Staged: b.staged, Observe: b.metrics.Staged, Log: b.log})
		defer func() {
			if err := stager.Close(context.WithoutCancel(ctx)); err != nil {
				b.log.Warn("staging repairs was cut off", "error", err)
			}
		}()
	}
	requests := make([]stage.Request, len(events))
	for i, e := range events {
		requests[i] = stage.Request{Event: e}
	}
	ctx, cancel := context.WithTimeout(ctx, stageWait)
	defer cancel()
	problems := make([]error, len(events))
	for i, answer := range stager.Stage(ctx, requests) {
		problems[i] = answer.Err
	}
	return problems
}

// Reconcile compares everything now, or what belongs to one source, and stops
// the process's parts. It is for a bridge that doesn't Run.
func (b *Bridge) Reconcile(ctx context.Context, source string) (reconcile.Report, error) {
	if b.reconciler == nil {
		return reconcile.Report{}, errors.New("this process does not reconcile: it runs without the role")
	}
	if _, known := b.sources.Load().byName[source]; source != "" && !known {
		return reconcile.Report{}, &UnknownSourceError{Source: source}
	}
	defer func() {
		b.lists.CloseIdle()
		b.login.Client.CloseIdle()
	}()
	return b.reconciler.Once(ctx, source), ctx.Err()
}

// UnknownSourceError names a source that no mapping defines.
type UnknownSourceError struct{ Source string }

func (e *UnknownSourceError) Error() string { return "no source " + e.Source + " is configured" }

// drift is what the last comparisons of this process found.
func (b *Bridge) drift() []reconcile.Sweep {
	if b.reconciler == nil {
		return []reconcile.Sweep{}
	}
	return b.reconciler.Last().Sweeps
}
