package apply

import (
	"maps"
	"slices"
	"strings"

	"sfbridge/bridge/apply/decide"
	"sfbridge/bridge/event"
	"sfbridge/mapping"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// Under a mapping that deletes records of an object, a record that isn't there
// may have been deleted by a later event, or is about to be. So, for every
// event whose record may be created, two more things are read: the deletions
// so far of that business record, and the open rows of the event's entity
// with equal or later order, whose revision the creating transaction moves on,
// so that a decision made beside it is refused.

// follower is an open row of an entity as read after the event was polled.
type follower struct {
	rowID    string
	id       string
	order    *int64
	revision int64
	home     string
}

// mayRevive says whether record i could bring back what was deleted: it speaks
// for its event, and the mapping deletes such records.
func (it *item) mayRevive(i int) bool {
	rec := it.records[i]
	return i == it.mainRecord() && rec.Action == mapping.Upsert && it.file.Deletes(rec.Object)
}

func (r *run) deletionQuestions(items []*item) []question {
	graves := map[string]targetKey{} // business key -> target
	objects := map[string]bool{}
	queues := map[string]bool{}
	for _, it := range items {
		for i, rec := range it.records {
			if !it.mayRevive(i) {
				continue
			}
			graves[event.BusinessKey(rec.Object, rec.Key.Value)] = r.keyOf(rec)
			if it.ev.ObjectID != "" {
				objects[it.ev.ObjectID] = true
				queues[it.queue()], queues[event.SisterQueue(it.queue())] = true, true
			}
		}
	}
	return append(r.graveQuestions(graves), r.followerQuestions(objects, queues)...)
}

func (r *run) graveQuestions(graves map[string]targetKey) []question {
	keys := slices.Sorted(maps.Keys(graves))
	folded := map[string]targetKey{}
	for business, k := range graves {
		folded[r.foldBusiness(business, k)] = k
	}
	var out []question
	for part := range slices.Chunk(keys, maxKeys/2) {
		out = append(out, question{
			object: event.Object,
			query: soql.Select(event.FieldID, event.FieldBusinessKey, event.FieldOrder).From(event.Object).Where(
				soql.In(event.FieldBusinessKey, part),
				soql.In(event.FieldStatus, []string{string(event.Completed), string(event.Applied)}),
				soql.Eq(event.FieldOutcome, string(event.Deleted))),
			take: func(rec salesforce.Record) {
				business := rec.String(event.FieldBusinessKey)
				for _, k := range []targetKey{folded[business], folded[strings.ToLower(business)]} {
					if k != (targetKey{}) {
						r.bury(r.base, k, decide.Standing{
							Order: wholeNumber(rec[event.FieldOrder]), Delete: true, Rank: decide.NoRank,
							EventID: rec.String(event.FieldID),
						})
						return
					}
				}
			},
		})
	}
	return out
}

// foldBusiness writes a business key so that it is found again by one whose key
// the target's field takes for the same.
func (r *run) foldBusiness(business string, k targetKey) string {
	if r.shape(k.object).foldsCase(k.field) {
		return strings.ToLower(business)
	}
	return business
}

// bury remembers the latest deletion of a target in a view.
func (r *run) bury(v *view, k targetKey, by decide.Standing) {
	t := v.get(k)
	if t.tombstone == nil || decide.Compare(by, *t.tombstone) > 0 {
		t.tombstone = &by
	}
	v.put(k, t)
}

func (r *run) followerQuestions(objects, queues map[string]bool) []question {
	var out []question
	for part := range slices.Chunk(slices.Sorted(maps.Keys(objects)), maxKeys/2) {
		out = append(out, question{
			object: event.Object,
			query: soql.Select("Id", event.FieldID, event.FieldSource, event.FieldObjectID, event.FieldOrder,
				event.FieldRevision, event.FieldHomeQueue).From(event.Object).Where(
				soql.In(event.FieldQueue, slices.Sorted(maps.Keys(queues))),
				soql.In(event.FieldObjectID, part)),
			take: r.takeFollower,
		})
	}
	return out
}

func (r *run) takeFollower(rec salesforce.Record) {
	revision, _ := rec.Int(event.FieldRevision)
	entity := event.Entity(rec.String(event.FieldSource), rec.String(event.FieldObjectID), rec.String(event.FieldID))
	f := &follower{
		rowID: rec.ID(), id: rec.String(event.FieldID), order: wholeNumber(rec[event.FieldOrder]),
		revision: revision, home: rec.String(event.FieldHomeQueue),
	}
	known := slices.IndexFunc(r.followers[entity], func(o *follower) bool { return o.rowID == f.rowID })
	if known >= 0 {
		r.followers[entity][known] = f
		return
	}
	r.followers[entity] = append(r.followers[entity], f)
}

// maxBumps bounds the rows that one create moves on, so that an entity with a
// long backlog still fits into a transaction. Those that come next are moved;
// the others wait for these and can't be decided before them.
const maxBumps = 300

// after are the open rows of the event's entity, itself left out, with equal
// or later order.
func (r *run) after(ev *event.Event) []*follower {
	var out []*follower
	for _, f := range r.followers[ev.Entity()] {
		earlier := ev.Order != nil && (f.order == nil || *f.order < *ev.Order)
		if f.rowID != ev.RowID && !earlier {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *follower) int {
		return event.Compare(&event.Event{ID: a.id, Order: a.order}, &event.Event{ID: b.id, Order: b.order})
	})
	return out[:min(len(out), maxBumps)]
}
