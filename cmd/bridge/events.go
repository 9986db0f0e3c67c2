package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sfbridge/bridge/app"
	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
	"sfbridge/config"
	"sfbridge/salesforce"
)

// filterFlags choose events, the same for every command that works on rows.
type filterFlags struct {
	config       string
	filter       operate.Filter
	status       []string
	since, until string
}

func (f *filterFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.config, "config", "", "settings file (bridge.yaml)")
	flags.StringArrayVar(&f.filter.IDs, "id", nil, "event id, such as stripe:evt_1 (repeatable)")
	flags.StringVar(&f.filter.Source, "source", "", "source")
	flags.StringVar(&f.filter.Type, "type", "", "event type")
	flags.StringVar(&f.filter.ObjectID, "object", "", "the provider's object")
	flags.StringSliceVar(&f.status, "status", nil, "received, applied, completed, retryable, review")
	flags.StringVar(&f.filter.Code, "code", "", "error code")
	flags.StringVar(&f.since, "since", "", "received at or after: 2026-11-30T12:00:00Z, 2026-11-30, or 2h ago as 2h")
	flags.StringVar(&f.until, "until", "", "received before")
	flags.IntVar(&f.filter.Limit, "limit", 0, "at most so many")
}

// complete reads what cobra can't.
func (f *filterFlags) complete(c *cobra.Command, env environment) error {
	if err := required(c, "config"); err != nil {
		return err
	}
	for _, s := range f.status {
		status, err := operate.ParseStatus(s)
		if err != nil {
			return err
		}
		f.filter.Status = append(f.filter.Status, status)
	}
	var err error
	if f.filter.Since, err = parseTime("since", f.since, env.now()); err != nil {
		return err
	}
	f.filter.Until, err = parseTime("until", f.until, env.now())
	return err
}

func parseTime(flag, s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usage("--%s %q: write a time like 2026-11-30T12:00:00Z, a day, or a duration like 2h", flag, s)
}

// desk opens the org of the settings for a person.
func desk(file string, env environment) (*operate.Desk, error) {
	_, client, err := connect(file, env)
	if err != nil {
		return nil, err
	}
	return operate.New(operate.Config{Org: client, Now: env.now, Rate: bulkRate})
}

// connect reads the settings and opens their org.
func connect(file string, env environment) (*config.Config, *salesforce.Client, error) {
	cfg, err := config.Load(file)
	if err != nil {
		return nil, nil, err
	}
	if cfg, err = cfg.Fill(env.env, "salesforce"); err != nil {
		return nil, nil, err
	}
	login, err := app.Connect(cfg, env.env, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range login.Warnings {
		fmt.Fprintln(env.err, "warning:", w)
	}
	return cfg, login.Client, nil
}

func newEvents(env environment) *cobra.Command {
	var f filterFlags
	var group bool
	c := &cobra.Command{
		Use: "events", Short: "List staged events",
		Example: "  bridge events --config bridge.yaml --status review --group\n  bridge events --config bridge.yaml --status review --code FIELD",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.complete(c, env); err != nil {
				return err
			}
			d, err := desk(f.config, env)
			if err != nil {
				return err
			}
			if group {
				return groups(c, env, d, f.filter)
			}
			list, err := d.List(c.Context(), f.filter)
			if err != nil {
				return err
			}
			if wantsJSON(c, env) {
				return printEvents(env, list)
			}
			return showEvents(env, list)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&group, "group", false, "count them by status, reason, source and type instead of listing them")
	return c
}

func printEvents(env environment, list []*event.Event) error {
	rows := make([]eventReport, len(list))
	for i, e := range list {
		rows[i] = reportOf(e)
	}
	return printJSON(env.out, map[string]any{"events": rows})
}

func showEvents(env environment, list []*event.Event) error {
	if len(list) == 0 {
		fmt.Fprintln(env.out, "no events")
		return nil
	}
	head := []string{"RECEIVED", "EVENT", "TYPE", "STATUS", "OUTCOME", "CODE", "FAILED ATTEMPTS", "ERROR"}
	rows := make([][]string, len(list))
	for i, e := range list {
		var failed string
		if e.Attempts > 0 {
			failed = strconv.Itoa(e.Attempts)
		}
		rows[i] = []string{e.ReceivedAt.Format(time.RFC3339), ends(e.ID, 60), ends(e.Type, 40), string(e.Status), string(e.Outcome),
			e.ErrorCode, failed, ends(e.Error, 160)}
	}
	head, rows = withoutEmpty(head, rows)
	t := newTable(env.out, head...)
	for _, r := range rows {
		t.row(r...)
	}
	return t.flush()
}

// withoutEmpty leaves out the columns that no row has anything in: there is
// more room for the others.
func withoutEmpty(head []string, rows [][]string) ([]string, [][]string) {
	isEmpty := func(column int) bool {
		return !slices.ContainsFunc(rows, func(r []string) bool { return r[column] != "" })
	}
	cut := func(cells []string) []string {
		var kept []string
		for i, c := range cells {
			if !isEmpty(i) {
				kept = append(kept, c)
			}
		}
		return kept
	}
	shown := make([][]string, len(rows))
	for i, r := range rows {
		shown[i] = cut(r)
	}
	return cut(head), shown
}

// eventReport is one row for machines; what is absent is left out.
type eventReport struct {
	EventID        string     `json:"event_id"`
	RowID          string     `json:"row_id"`
	Source         string     `json:"source,omitempty"`
	Type           string     `json:"type,omitempty"`
	ObjectID       string     `json:"object_id,omitempty"`
	Order          *int64     `json:"order,omitempty"`
	Status         string     `json:"status"`
	Outcome        string     `json:"outcome,omitempty"`
	Trust          string     `json:"trust,omitempty"`
	Attempts       int        `json:"attempts"`
	Replays        int        `json:"replays"`
	Duplicates     int        `json:"duplicates"`
	ReceivedAt     time.Time  `json:"received_at"`
	ProcessedAt    *time.Time `json:"processed_at,omitempty"`
	NextAttemptAt  *time.Time `json:"next_attempt_at,omitempty"`
	MappingVersion string     `json:"mapping_version,omitempty"`
	TargetObject   string     `json:"target_object,omitempty"`
	TargetID       string     `json:"target_id,omitempty"`
	ErrorCode      string     `json:"error_code,omitempty"`
	Error          string     `json:"error,omitempty"`
}

func reportOf(e *event.Event) eventReport {
	when := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	return eventReport{
		EventID: e.ID, RowID: e.RowID, Source: e.Source, Type: e.Type, ObjectID: e.ObjectID, Order: e.Order,
		Status: string(e.Status), Outcome: string(e.Outcome), Trust: string(e.Trust),
		Attempts: e.Attempts, Replays: e.ReplayCount, Duplicates: e.DuplicateCount,
		ReceivedAt: e.ReceivedAt, ProcessedAt: when(e.ProcessedAt), NextAttemptAt: when(e.NextAttempt),
		MappingVersion: e.MappingVersion, TargetObject: e.TargetObject, TargetID: e.TargetID,
		ErrorCode: e.ErrorCode, Error: e.Error,
	}
}

func jsonText(v any) string {
	var b strings.Builder
	if err := printJSON(&b, v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
