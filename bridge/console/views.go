package console

import (
	"time"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
)

// The shapes of the answers. What is absent is null.

type eventPage struct {
	Events []eventView `json:"events"`
	Next   *string     `json:"next"`
}

type eventView struct {
	EventID        string     `json:"event_id"`
	RowID          string     `json:"row_id"`
	Source         string     `json:"source"`
	Type           *string    `json:"type"`
	ObjectID       *string    `json:"object_id"`
	DeliveryID     *string    `json:"delivery_id"`
	BusinessKey    *string    `json:"business_key"`
	Order          *int64     `json:"order"`
	Trust          *string    `json:"trust"`
	Status         string     `json:"status"`
	Outcome        *string    `json:"outcome"`
	Attempts       int        `json:"attempts"`
	Replays        int        `json:"replays"`
	Duplicates     int        `json:"duplicates"`
	ReceivedAt     *time.Time `json:"received_at"`
	ProcessedAt    *time.Time `json:"processed_at"`
	NextAttemptAt  *time.Time `json:"next_attempt_at"`
	LastDuplicate  *time.Time `json:"last_duplicate_at"`
	MappingVersion *string    `json:"mapping_version"`
	TargetObject   *string    `json:"target_object"`
	TargetID       *string    `json:"target_id"`
	ErrorCode      *string    `json:"error_code"`
	Error          *string    `json:"error"`
}

type eventStory struct {
	eventView
	Payload   any          `json:"payload"` // JSON, or text where it is none
	Context   any          `json:"context"`
	History   []string     `json:"history"`
	Conflicts []eventView  `json:"conflicts"`
	Effects   []effectView `json:"effects"`
	// Original and Changes are those of a conflict row.
	Original *originalView    `json:"original"`
	Changes  []operate.Change `json:"changes"`
	// ChangesCut is how many more changes there are.
	ChangesCut int     `json:"changes_cut"`
	ConflictOf *string `json:"conflict_of"`
}

// originalView is the event that a conflict row conflicts with: the other
// version.
type originalView struct {
	eventView
	Payload any `json:"payload"`
}

type historyView struct {
	EventID string   `json:"event_id"`
	History []string `json:"history"`
}

type effectView struct {
	Key           string     `json:"key"`
	EventID       *string    `json:"event_id"`
	Name          string     `json:"name"`
	Status        string     `json:"status"`
	Attempts      int        `json:"attempts"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	ResponseCode  *string    `json:"response_code"`
	Response      *string    `json:"response"`
	Request       any        `json:"request"` // null in lists
	History       []string   `json:"history"`
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func viewOf(e *event.Event) eventView {
	return eventView{
		EventID: e.ID, RowID: e.RowID, Source: e.Source, Type: orNull(e.Type), ObjectID: orNull(e.ObjectID),
		DeliveryID: orNull(e.DeliveryID), BusinessKey: orNull(e.BusinessKey), Order: e.Order,
		Trust: orNull(string(e.Trust)), Status: string(e.Status), Outcome: orNull(string(e.Outcome)),
		Attempts: e.Attempts, Replays: e.ReplayCount, Duplicates: e.DuplicateCount,
		ReceivedAt: timeOrNull(e.ReceivedAt), ProcessedAt: timeOrNull(e.ProcessedAt), NextAttemptAt: timeOrNull(e.NextAttempt),
		LastDuplicate:  timeOrNull(e.LastDuplicateAt),
		MappingVersion: orNull(e.MappingVersion), TargetObject: orNull(e.TargetObject), TargetID: orNull(e.TargetID),
		ErrorCode: orNull(e.ErrorCode), Error: orNull(e.Error),
	}
}

func eventViews(list []*event.Event) []eventView {
	views := make([]eventView, len(list))
	for i, e := range list {
		views[i] = viewOf(e)
	}
	return views
}

func storyView(s operate.Story) eventStory {
	story := eventStory{
		eventView: viewOf(s.Event), Payload: operate.JSON(s.Event.Payload), Context: operate.JSON(s.Event.Context),
		History: operate.Lines(s.Event.History), Conflicts: eventViews(s.Conflicts), Effects: make([]effectView, len(s.Effects)),
	}
	for i, e := range s.Effects {
		story.Effects[i] = effectOf(e, s.Event.ID)
	}
	if s.Original != nil {
		story.Original = &originalView{viewOf(s.Original), operate.JSON(s.Original.Payload)}
		story.Changes, story.ChangesCut, story.ConflictOf = s.Changes, s.ChangesCut, orNull(s.Original.ID)
	}
	return story
}

func effectOf(e *event.Effect, eventID string) effectView {
	return effectView{
		Key: e.Key, EventID: orNull(eventID), Name: e.Name, Status: string(e.Status), Attempts: e.Attempts,
		NextAttemptAt: timeOrNull(e.NextAttempt), ResponseCode: orNull(e.Code), Response: orNull(e.Response),
		Request: operate.JSON([]byte(e.Request)), History: operate.Lines(e.History),
	}
}

func effectViews(list []operate.StoredEffect) []effectView {
	views := make([]effectView, len(list))
	for i, e := range list {
		views[i] = effectOf(e.Effect, e.EventID)
	}
	return views
}
