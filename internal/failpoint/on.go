//go:build failpoint

package failpoint

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// folder names the environment variable with the folder of what is armed.
const folder = "BRIDGE_FAILPOINTS"

// Hit marks a place between two steps.
func Hit(p Point) {
	what, duration := read(p)
	switch what {
	case "kill":
		if os.Rename(file(p), file(p)+".hit") != nil {
			return // another one is dying of it
		}
		if duration > 0 {
			time.AfterFunc(duration, die)
			return
		}
		die()
	case "delay":
		time.Sleep(duration)
	}
}

// die is the end that nothing in the process can see coming.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until the signal is there
}

// Err marks a place that can fail.
func Err(p Point) error {
	if what, _ := read(p); what == "fail" {
		return &net.DNSError{Err: "no such host", Name: string(p), IsNotFound: true}
	}
	return nil
}

// Now is the time by a clock that may be wrong.
func Now() time.Time {
	_, off := read(Point("clock"))
	return time.Now().Add(off)
}

func file(p Point) string { return filepath.Join(os.Getenv(folder), string(p)) }

// read takes a file apart: a word, a duration, or both.
func read(p Point) (what string, duration time.Duration) {
	if os.Getenv(folder) == "" {
		return "", 0
	}
	text, err := os.ReadFile(file(p))
	if err != nil {
		return "", 0
	}
	for _, word := range strings.Fields(string(text)) {
		d, err := time.ParseDuration(word)
		if err != nil {
			what = word
			continue
		}
		duration = d
	}
	if what == "" && p != "clock" {
		panic(fmt.Sprintf("failpoint %s: %q says nothing to do", p, text))
	}
	return what, duration
}
