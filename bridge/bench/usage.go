package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has used since its start. Zero figures are not known.
type Usage struct {
	CPU    time.Duration // user and system
	Peak   int64         // highest resident memory in bytes
	Allocs int64         // objects that Go has allocated
}

// usageOf reads what the system says of a process, and the allocations from its
// metrics.
func usageOf(ctx context.Context, pid int, metrics string) (u Usage, err error) {
	folder := "/proc/" + strconv.Itoa(pid)
	status, err := os.ReadFile(folder + "/status")
	if errors.Is(err, os.ErrNotExist) {
		return u, nil // a system without /proc
	}
	if err != nil {
		return u, err
	}
	if u.Peak, err = peakOf(status); err != nil {
		return u, err
	}
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return u, err
	}
	if u.CPU, err = cpuOf(stat); err != nil {
		return u, err
	}
	u.Allocs, err = allocs(ctx, metrics)
	return u, err
}

// peakOf finds the highest resident memory in the text of /proc/PID/status.
func peakOf(status []byte) (int64, error) {
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, nil
}

// tick is the unit of the times in /proc/PID/stat, the same on every Linux.
const tick = 10 * time.Millisecond

// cpuOf finds user and system time in the text of /proc/PID/stat: the 14th and
// 15th field, counted behind the name, which may hold anything.
func cpuOf(stat []byte) (time.Duration, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, errors.New("the system's figures of a process can't be read")
	}
	var sum time.Duration
	for _, text := range [][]byte{fields[user], fields[system]} {
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the CPU time of a process: %w", err)
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}

// allocsMetric is what a Go process counts its allocations under.
const allocsMetric = "go_memstats_mallocs_total "

// allocs reads the count of allocations from the metrics of a process; "" is no
// metrics.
func allocs(ctx context.Context, url string) (int64, error) {
	if url == "" {
		return 0, nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxLog))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, allocsMetric); found {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return int64(n), err
		}
	}
	return 0, nil
}
