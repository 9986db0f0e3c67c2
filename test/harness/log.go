package harness

import (
	"bytes"
	"context"
	"strings"
	"sync"
)

// Log is what a process has written so far, line by line. It is an io.Writer
// and safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	lines   []string
	partial []byte
	more    chan struct{} // closed at the next line
	ended   bool
}

func newLog() *Log { return &Log{more: make(chan struct{})} }

// Write takes output of the process.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partial = append(l.partial, p...)
	for {
		line, rest, found := bytes.Cut(l.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.lines = append(l.lines, string(line))
		l.partial = append([]byte(nil), rest...)
		l.wake()
	}
}

func (l *Log) wake() {
	close(l.more)
	l.more = make(chan struct{})
}

// end says that nothing more will come.
func (l *Log) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.partial) > 0 {
		l.lines, l.partial = append(l.lines, string(l.partial)), nil
	}
	l.ended = true
	l.wake()
}

// Mark is the number of lines so far, for Wait.
func (l *Log) Mark() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}

// Lines returns all lines from a mark on.
func (l *Log) Lines(mark int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines[min(mark, len(l.lines)):]...)
}

// String is the whole log.
func (l *Log) String() string { return strings.Join(l.Lines(0), "\n") }

// Wait returns the first line from a mark on that holds text, as soon as it is
// there; false when the log or ctx ends before.
func (l *Log) Wait(ctx context.Context, mark int, text string) (string, bool) {
	for {
		l.mu.Lock()
		more, ended := l.more, l.ended
		for ; mark < len(l.lines); mark++ {
			if strings.Contains(l.lines[mark], text) {
				line := l.lines[mark]
				l.mu.Unlock()
				return line, true
			}
		}
		l.mu.Unlock()
		if ended {
			return "", false
		}
		select {
		case <-more:
		case <-ctx.Done():
			return "", false
		}
	}
}
