package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sfbridge/bridge/event"
	"sfbridge/bridge/store"
	"sfbridge/internal/pause"
)

// tellEvery bounds how often a process tells the others: what comes in between
// goes in one message.
const tellEvery = 100 * time.Millisecond

// word is what one process tells the others: rows that have become due.
type word struct {
	From    string         `json:"from"`
	Queues  map[string]int `json:"queues,omitempty"`  // staged, by queue
	Any     int            `json:"any,omitempty"`     // made due in whatever queue
	Effects int            `json:"effects,omitempty"` // of the outbox

	Looked        bool `json:"looked,omitempty"`         // at what is due, in every queue
	LookedEffects bool `json:"looked_effects,omitempty"` // likewise in the outbox
}

// Bounds of a word that is heard: anybody who may write to Redis may say one.
const (
	maxWord = 4 << 10
	maxRows = 1_000_000
)

var errWord = errors.New("not a word of another process")

// readWord reads a message.
func readWord(text []byte) (w word, err error) {
	if len(text) > maxWord {
		return word{}, errWord
	}
	if err := json.Unmarshal(text, &w); err != nil {
		return word{}, errWord
	}
	bad := func(n int) bool { return n < 0 || n > maxRows }
	for _, n := range w.Queues {
		if bad(n) {
			return word{}, errWord
		}
	}
	if bad(w.Any) || bad(w.Effects) {
		return word{}, errWord
	}
	return w, nil
}

func (w word) empty() bool {
	return len(w.Queues) == 0 && w.Any == 0 && w.Effects == 0 && !w.Looked && !w.LookedEffects
}

// othersConfig joins a process with those beside it.
type othersConfig struct {
	bell    *store.Bell
	name    string // of this process
	log     *slog.Logger
	every   time.Duration
	poll    func(queues map[string]int, more int) // rows that others have made due
	effects func(rows int)                        // likewise of the outbox
	seen    func(due, effects bool)               // others have looked at what is due
}

// others wakes the processes that hold the queues of what this one has staged,
// and this one when it is told so. Without a word, or after a false one, rows wait
// for the next look at what is due, which every process makes itself before long
// whatever it is told: nothing hangs on it but time.
type others struct {
	cfg  othersConfig
	poke chan struct{} // holds one signal while something is to be told

	mu      sync.Mutex
	pending word
}

func newOthers(cfg othersConfig) *others {
	return &others{cfg: cfg, poke: make(chan struct{}, 1)}
}

// tell adds to what the others are told next. It never blocks.
func (o *others) tell(w word) {
	if w.empty() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pending.Queues == nil {
		o.pending.Queues = map[string]int{}
	}
	for queue, n := range w.Queues {
		o.pending.Queues[queue] = min(maxRows, o.pending.Queues[queue]+n)
	}
	o.pending.Any = min(maxRows, o.pending.Any+w.Any)
	o.pending.Effects = min(maxRows, o.pending.Effects+w.Effects)
	o.pending.Looked = o.pending.Looked || w.Looked
	o.pending.LookedEffects = o.pending.LookedEffects || w.LookedEffects
	select {
	case o.poke <- struct{}{}:
	default:
	}
}

// Run tells and listens until ctx ends.
func (o *others) Run(ctx context.Context) error {
	var g errgroup.Group
	first := true
	connected := func() {
		if !first { // a word may have been missed
			o.cfg.poll(nil, 1)
			o.cfg.effects(1)
		}
		first = false
	}
	g.Go(func() error { return o.cfg.bell.Listen(ctx, connected, o.hear) })
	g.Go(func() error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-o.poke:
			}
			o.flush(ctx)
			if pause.For(ctx, o.cfg.every) != nil {
				return nil
			}
		}
	})
	return g.Wait()
}

// flush tells what is to be told; what can't be told is forgotten.
func (o *others) flush(ctx context.Context) {
	o.mu.Lock()
	w := o.pending
	o.pending = word{}
	o.mu.Unlock()
	if w.empty() {
		return
	}
	w.From = o.cfg.name
	text, err := json.Marshal(w)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, leaseWait)
		defer cancel()
		err = o.cfg.bell.Ring(ctx, text)
	}
	if err != nil && ctx.Err() == nil {
		o.cfg.log.Debug("other processes can't be told what is due: they see it at their next look", "error", err)
	}
}

// hear takes a message of any process.
func (o *others) hear(text []byte) {
	w, err := readWord(text)
	if err != nil {
		o.cfg.log.Debug("a message of another process can't be read")
		return
	}
	if w.From == o.cfg.name {
		return
	}
	o.cfg.poll(w.Queues, w.Any)
	o.cfg.effects(w.Effects)
	o.cfg.seen(w.Looked, w.LookedEffects)
}

// staged wakes whoever works on the queues of new rows: this process or, where
// others share the store, the one that holds them.
func (b *Bridge) staged(rows map[string]int) {
	ours := maps.Clone(rows)
	maps.DeleteFunc(ours, func(queue string, _ int) bool { return !strings.HasPrefix(queue, event.ByBridge.Prefix()) })
	if b.others == nil {
		b.wakeAny(sum(ours))
		return
	}
	theirs := map[string]int{}
	for queue, n := range ours {
		if b.poller == nil || !b.poller.Holds(queue) {
			theirs[queue] = n
		}
	}
	b.wakeHeld(ours, 0)
	b.others.tell(word{Queues: theirs})
}

// wake tells of rows that were made due in whatever queue.
func (b *Bridge) wake(rows int) {
	b.wakeAny(rows)
	if b.others != nil {
		b.others.tell(word{Any: rows})
	}
}

// wakeHeld wakes the poller for those of the rows whose queues it holds, and for
// more that may be in any.
func (b *Bridge) wakeHeld(queues map[string]int, more int) {
	if b.poller == nil {
		return
	}
	for queue, n := range queues {
		if b.poller.Holds(queue) {
			more += n
		}
	}
	b.wakeAny(more)
}

func (b *Bridge) wakeAny(rows int) {
	if b.poller != nil {
		b.poller.Wake(rows)
	}
}

// wakeEffects wakes the effect worker of this process, or else that of another.
func (b *Bridge) wakeEffects(rows int) {
	if b.effects == nil && b.others != nil {
		b.others.tell(word{Effects: rows})
	}
	b.wakeEffectsHere(rows)
}

func (b *Bridge) wakeEffectsHere(rows int) {
	if b.effects != nil && rows > 0 {
		b.effects.Wake(rows)
	}
}

// seenByOthers spares this process a look that another one has made.
func (b *Bridge) seenByOthers(due, effects bool) {
	if due && b.poller != nil {
		b.poller.Seen()
	}
	if effects && b.effects != nil {
		b.effects.Seen()
	}
}

// looked is who tells the others of a look; nil: there are none.
func (b *Bridge) looked() func(found map[string]int) {
	if b.others == nil {
		return nil
	}
	return func(found map[string]int) { b.others.tell(word{Queues: found, Looked: true}) }
}

// lookedAtEffects likewise.
func (b *Bridge) lookedAtEffects() {
	if b.others != nil {
		b.others.tell(word{LookedEffects: true})
	}
}

func sum(counts map[string]int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}
