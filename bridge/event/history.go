package event

import (
	"fmt"
	"strings"
	"time"
)

// HistoryLimit is the length of History__c in characters.
const HistoryLimit = 32768

// ErrorLimit is the length of Error__c in characters.
const ErrorLimit = 4096

const foldMark = "... "

// Line is one decision about a row, for auditors.
type Line struct {
	At       time.Time
	From, To Status // From is empty for a row's first line
	Who      string // "bridge", "apex", or a person
	Why      string // one sentence; line breaks are folded to blanks
}

func (l Line) String() string {
	why := strings.Join(strings.Fields(l.Why), " ")
	from := l.From
	if from == "" {
		from = "new"
	}
	return fmt.Sprintf("%s %s -> %s by %s: %s", l.At.UTC().Format(time.RFC3339), from, l.To, l.Who, why)
}

// AppendHistory adds a line. When the field is full the oldest lines are
// folded into one that counts them.
func AppendHistory(history string, l Line) string { return AppendLine(history, l.String()) }

// AppendLine is AppendHistory for a line that is written out.
func AppendLine(history, line string) string {
	line = Cut(line, 1024)
	if history == "" {
		return line
	}
	full := history + "\n" + line
	if UTF16Len(full) <= HistoryLimit {
		return full
	}
	return fold(full)
}

func fold(history string) string {
	lines := strings.Split(history, "\n")
	folded := 0
	if strings.HasPrefix(lines[0], foldMark) {
		_, _ = fmt.Sscanf(lines[0], foldMark+"%d", &folded)
		lines = lines[1:]
	}
	rest := UTF16Len(strings.Join(lines, "\n"))
	const room = 64 // for the line that counts
	for len(lines) > 1 && rest > HistoryLimit-room {
		rest -= UTF16Len(lines[0]) + 1
		folded++
		lines = lines[1:]
	}
	return fmt.Sprintf("%s%d earlier lines folded\n%s", foldMark, folded, strings.Join(lines, "\n"))
}
