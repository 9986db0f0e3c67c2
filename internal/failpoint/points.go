package failpoint

// Point is a place between two steps.
type Point string

// Receiving: from the signature to the answer.
const (
	ReceiveVerified Point = "receive.verified"
	ReceiveDurable  Point = "receive.durable"
	ReceiveAnswered Point = "receive.answered"
)

// Staging: one group commit, and the counts of duplicates.
const (
	StageSending  Point = "stage.sending"
	StageAnswered Point = "stage.answered"
	StageJudging  Point = "stage.judging"
	StageSettled  Point = "stage.settled"
	CountSending  Point = "count.sending"
	CountAnswered Point = "count.answered"
)

// Spooling: one append, and one batch on its way into Salesforce.
const (
	SpoolAppending  Point = "spool.appending"
	SpoolCommitting Point = "spool.committing"
	SpoolAppended   Point = "spool.appended"
	DrainTaken      Point = "drain.taken"
	DrainStaged     Point = "drain.staged"
	DrainRemoving   Point = "drain.removing"
	DrainRemoved    Point = "drain.removed"
)

// Applying: one batch from the due query to the journal's end.
const (
	PollAsked         Point = "poll.asked"
	JournalCommitting Point = "journal.committing"
	PollJournaled     Point = "poll.journaled"
	PollLoaded        Point = "poll.loaded"
	ApplyRead         Point = "apply.read"
	ApplySending      Point = "apply.sending"
	ApplyAnswered     Point = "apply.answered"
	GraphSending      Point = "graph.sending"
	GraphAnswered     Point = "graph.answered"
	PollApplied       Point = "poll.applied"
	PollDone          Point = "poll.done"
)

// Effects: one batch of the outbox.
const (
	EffectDue      Point = "effect.due"
	EffectRead     Point = "effect.read"
	EffectSending  Point = "effect.sending"
	EffectSent     Point = "effect.sent"
	EffectMoving   Point = "effect.moving"
	EffectRecorded Point = "effect.recorded"
)

// Steps lists the points between two steps, where a process may die.
func Steps() []Point {
	return []Point{
		ReceiveVerified, ReceiveDurable, ReceiveAnswered,
		StageSending, StageAnswered, StageJudging, StageSettled, CountSending, CountAnswered,
		SpoolAppending, SpoolCommitting, SpoolAppended, DrainTaken, DrainStaged, DrainRemoving, DrainRemoved,
		PollAsked, JournalCommitting, PollJournaled, PollLoaded, ApplyRead, ApplySending, ApplyAnswered,
		GraphSending, GraphAnswered, PollApplied, PollDone,
		EffectDue, EffectRead, EffectSending, EffectSent, EffectMoving, EffectRecorded,
	}
}

// Dial is where a connection to Salesforce is opened; Err may fail there.
const Dial Point = "dial"

// Call is the point just before a request of an operation is sent to
// Salesforce. Armed with a kill that comes a little later, the process dies
// while the org is at work.
func Call(operation string) Point { return Point("call." + operation) }
