package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
)

func newShow(env environment) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "show ID", Short: "Tell the story of one event",
		Example: "  bridge show --config bridge.yaml stripe:evt_1",
		Args:    oneArg("an event id such as stripe:evt_1, or a row id"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := required(c, "config"); err != nil {
				return err
			}
			d, err := desk(file, env)
			if err != nil {
				return err
			}
			story, err := d.Show(c.Context(), args[0])
			if err != nil {
				return err
			}
			if wantsJSON(c, env) {
				return printStory(env, story)
			}
			return showStory(env, story)
		},
	}
	c.Flags().StringVar(&file, "config", "", "settings file (bridge.yaml)")
	return c
}

func printStory(env environment, s operate.Story) error {
	conflicts := make([]eventReport, len(s.Conflicts))
	for i, e := range s.Conflicts {
		conflicts[i] = reportOf(e)
	}
	return printJSON(env.out, struct {
		eventReport
		Payload   any            `json:"payload"`
		Context   any            `json:"context"`
		History   []string       `json:"history"`
		Conflicts []eventReport  `json:"conflicts"`
		Effects   []effectReport `json:"effects"`
		conflictReport
	}{reportOf(s.Event), operate.JSON(s.Event.Payload), operate.JSON(s.Event.Context), operate.Lines(s.Event.History), conflicts, effectReports(s.Effects), conflictOf(s)})
}

// conflictReport compares a conflict row with the event that it conflicts with.
type conflictReport struct {
	ConflictOf string           `json:"conflict_of,omitempty"`
	Changes    []operate.Change `json:"changes,omitempty"`
	ChangesCut int              `json:"changes_cut,omitempty"` // how many more there are
}

func conflictOf(s operate.Story) conflictReport {
	if s.Original == nil {
		return conflictReport{}
	}
	return conflictReport{s.Original.ID, s.Changes, s.ChangesCut}
}

// showChanges prints both versions of a conflict as a diff.
func showChanges(env environment, s operate.Story) {
	if s.Original == nil {
		return
	}
	var diff []string
	for _, c := range s.Changes {
		if c.Kind != "added" {
			diff = append(diff, "- "+c.Path+": "+short(jsonText(c.From), 200))
		}
		if c.Kind != "removed" {
			diff = append(diff, "+ "+c.Path+": "+short(jsonText(c.To), 200))
		}
	}
	if s.ChangesCut > 0 {
		diff = append(diff, fmt.Sprintf("… and %d more differences: compare the payloads", s.ChangesCut))
	}
	if s.Changes == nil {
		diff = []string{"the payload of one of the two is gone"}
	}
	section(env, "differs from "+s.Original.ID, diff)
}

// effectReport is one side effect for machines.
type effectReport struct {
	Key         string     `json:"key"`
	Name        string     `json:"name"`
	Status      string     `json:"status"`
	Attempts    int        `json:"attempts"`
	NextAttempt *time.Time `json:"next_attempt_at"`
	Code        string     `json:"response_code"`
	Response    string     `json:"response"`
	Request     any        `json:"request"`
	History     []string   `json:"history"`
}

func effectReports(effects []*event.Effect) []effectReport {
	out := make([]effectReport, len(effects))
	for i, e := range effects {
		out[i] = effectReport{
			Key: e.Key, Name: e.Name, Status: string(e.Status), Attempts: e.Attempts, Code: e.Code, Response: e.Response,
			Request: operate.JSON([]byte(e.Request)), History: operate.Lines(e.History),
		}
		if !e.NextAttempt.IsZero() {
			out[i].NextAttempt = &e.NextAttempt
		}
	}
	return out
}

func showStory(env environment, s operate.Story) error {
	if err := showFacts(env, s.Event); err != nil {
		return err
	}
	showChanges(env, s)
	section(env, "history", operate.Lines(s.Event.History))
	for _, f := range s.Effects {
		section(env, strings.TrimSpace(fmt.Sprintf("effect %s: %s %s", f.Name, f.Status, f.Code)),
			slices.Concat([]string{"key " + f.Key}, operate.Lines(f.History), requestText(f.Request)))
	}
	var conflicts []string
	for _, c := range s.Conflicts {
		conflicts = append(conflicts, c.ReceivedAt.Format(time.RFC3339)+" "+c.ID+" "+string(c.Status))
	}
	title := "conflicts"
	if s.Original != nil {
		title = "other conflicts with " + s.Original.ID
	}
	section(env, title, conflicts)
	showPayload(env, s.Event)
	return nil
}

func showFacts(env environment, e *event.Event) error {
	t := newTable(env.out)
	line := func(name, value string) {
		if value != "" {
			t.row(name, value)
		}
	}
	line("event", e.ID)
	line("type", e.Type)
	line("object", e.ObjectID)
	line("delivery", e.DeliveryID)
	line("received", e.ReceivedAt.Format(time.RFC3339)+", "+string(e.Trust))
	if e.Order != nil {
		line("order", fmt.Sprint(*e.Order))
	}
	line("status", strings.TrimSpace(string(e.Status)+" "+string(e.Outcome)))
	line("target", strings.TrimSpace(e.TargetObject+" "+e.TargetID))
	line("mapping", e.MappingVersion)
	line("error", strings.TrimSpace(e.ErrorCode+" "+e.Error))
	line("failed attempts", fmt.Sprint(e.Attempts))
	line("replays", fmt.Sprint(e.ReplayCount))
	line("duplicates", fmt.Sprint(e.DuplicateCount))
	if !e.NextAttempt.IsZero() {
		line("next attempt", e.NextAttempt.Format(time.RFC3339))
	}
	return t.flush()
}

func showPayload(env environment, e *event.Event) {
	switch {
	case e.Cleared():
		section(env, "payload", []string{"cleared by retention: bridge restore puts it back where there is an archive"})
	case len(e.Payload) == 0:
		section(env, "payload", []string{"can't be read: a part of it is missing or damaged"})
	default:
		section(env, fmt.Sprintf("payload (%d bytes)", len(e.Payload)), payloadText(e.Payload))
	}
}

// requestText is what an effect sends.
func requestText(request string) []string {
	text := payloadText([]byte(request))
	if len(text) > 0 {
		text[0] = "request " + text[0]
	}
	return text
}

func section(env environment, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(env.out, "\n%s\n", title)
	for _, l := range lines {
		fmt.Fprintf(env.out, "  %s\n", oneLine(l))
	}
}
