package demo

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/app"
	"sfbridge/bridge/event"
)

// broken is a part that is broken, the act that must fail by it, and the acts
// that use the same part and must not.
type broken struct {
	act, how string
	seams    app.Seams
	outside  func(http.Handler) http.Handler
	beside   []string
}

// Acts that rest on staging, on applying, and on moving rows for a person.
func staging() []string {
	return []string{"same_twice", "ten_at_once", "lost_reply", "conflict_accepted"}
}
func applying() []string {
	return []string{"one_entity", "out_of_order", "replay", "drift_repaired", "conflict_accepted"}
}
func moving() []string { return []string{"replay", "effect_once", "archive_restored"} }

func TestABrokenPartFailsItsOwnCheckAndNoOther(t *testing.T) {
	t.Parallel()
	fail(t, []broken{
		{act: "same_twice", how: "an event is not known again", seams: app.Seams{Stager: forgetful("same_twice")}, beside: staging()},
		{act: "ten_at_once", how: "an event is not known again", seams: app.Seams{Stager: forgetful("ten_at_once")}, beside: staging()},
		{act: "one_entity", how: "order is read backwards", seams: app.Seams{Applier: orders(by("one_entity"), backwards)}, beside: applying()},
		{act: "out_of_order", how: "order is read backwards", seams: app.Seams{Applier: orders(by("out_of_order"), backwards)}, beside: applying()},
		{act: "bad_row", how: "a bad row spoils its mates", seams: app.Seams{Stager: together("bad_row", 200), Applier: spoilsMates}, beside: applying()},
		{act: "lost_reply", how: "staging gives up", seams: app.Seams{Stager: givesUp("lost_reply")}, beside: staging()},
		{act: "bad_signature", how: "every signature is believed", seams: app.Seams{Verifier: believesAll}, beside: slices.Concat(staging(), applying())},
		{act: "burst", how: "a call an event", seams: app.Seams{Org: oneCallAnEvent("burst")}, beside: staging()},
		{act: "replay", how: "a replay is lost", seams: app.Seams{Org: losesReplays("replay")}, beside: moving()},
		{act: "replay", how: "a replay is refused", seams: app.Seams{Org: refusesReplays("replay")}, beside: moving()},
	})
}

func TestABrokenPartFailsItsOwnSceneAndNoOther(t *testing.T) {
	t.Parallel()
	fail(t, []broken{
		{act: "effect_once", how: "a newer event looks like a transition", seams: app.Seams{Org: seesNoState("effect_once")}, beside: moving()},
		{act: "effect_once", how: "the replay is lost", seams: app.Seams{Org: losesReplays("effect_once")}, beside: moving()},
		{act: "effect_once", how: "the replay sends again", seams: app.Seams{Org: sendsAgain("effect_once")}, beside: moving()},
		{act: "effect_once", how: "the replay is refused", seams: app.Seams{Org: refusesReplays("effect_once")}, beside: moving()},
		{act: "drift_repaired", how: "repairs are held for stale", seams: app.Seams{Applier: orders(event.IsRepair, older)}, beside: applying()},
		{act: "drift_repaired", how: "the second list is refused", outside: answers(3, http.StatusForbidden, ""), beside: moving()},
		{act: "drift_repaired", how: "the second list is empty", outside: answers(3, http.StatusOK, `{"data":[]}`), beside: moving()},
		{act: "conflict_accepted", how: "an accepted conflict is held for stale", seams: app.Seams{Applier: orders(event.IsConflict, older)}, beside: applying()},
		{act: "conflict_accepted", how: "the order is refused", seams: app.Seams{Org: refusesReplays("conflict_accepted")}, beside: moving()},
		{act: "archive_restored", how: "another payload is restored", seams: app.Seams{Org: restoresAnother}, beside: moving()},
	})
}

// fail plays with one broken part after the other: each is seen by its own act,
// which fails, and by no other.
func fail(t *testing.T, parts []broken) {
	for _, part := range parts {
		t.Run(part.act+"/"+part.how, func(t *testing.T) {
			cfg := quick(part.seams)
			cfg.outside = part.outside
			names := []string{part.act}
			for _, name := range part.beside {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
			assert.Equal(t, []string{part.act}, failing(t, cfg, names...))
		})
	}
}
