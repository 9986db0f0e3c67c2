package bench

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/internal/pause"
)

// bulkClient does what a drain by Bulk API 2.0 would have to: one job from its
// creation to its results, by which every row is told from its event id.
type bulkClient struct{ url, token string }

const (
	bulkPath = "/services/data/v65.0/jobs/ingest/"
	bulkPoll = 500 * time.Millisecond // between looks at a running job
	bulkWait = 2 * time.Minute        // for one job
)

// insert inserts the rows by one job.
func (b *bulkClient) insert(ctx context.Context, rows []map[string]any) error {
	ctx, cancel := context.WithTimeout(ctx, bulkWait)
	defer cancel()
	var job struct{ ID, State string }
	create := map[string]string{"object": event.Object, "operation": "insert", "contentType": "CSV", "lineEnding": "LF"}
	if err := b.json(ctx, http.MethodPost, "", create, &job); err != nil {
		return err
	}
	text, err := csvOf(rows)
	if err != nil {
		return err
	}
	if _, err := b.call(ctx, http.MethodPut, job.ID+"/batches", "text/csv", text); err != nil {
		return err
	}
	if err := b.json(ctx, http.MethodPatch, job.ID, map[string]string{"state": "UploadComplete"}, &job); err != nil {
		return err
	}
	for job.State != "JobComplete" {
		if job.State == "Failed" || job.State == "Aborted" {
			return fmt.Errorf("the job is %s", job.State)
		}
		if err := pause.For(ctx, bulkPoll); err != nil {
			return err
		}
		if err := b.json(ctx, http.MethodGet, job.ID, nil, &job); err != nil {
			return err
		}
	}
	return b.results(ctx, job.ID, len(rows))
}

// results reads what became of every row.
func (b *bulkClient) results(ctx context.Context, job string, rows int) error {
	var found int
	for _, kind := range []string{"successfulResults", "failedResults", "unprocessedrecords"} {
		text, err := b.call(ctx, http.MethodGet, job+"/"+kind, "", nil)
		if err != nil {
			return err
		}
		lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			return fmt.Errorf("reading %s: %w", kind, err)
		}
		if n := max(0, len(lines)-1); kind == "successfulResults" {
			found = n
		}
	}
	if found != rows {
		return fmt.Errorf("%d rows of %d were inserted", found, rows)
	}
	return nil
}

// csvOf writes the rows, which have the same fields.
func csvOf(rows []map[string]any) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	columns := slices.Sorted(maps.Keys(rows[0]))
	if err := w.Write(columns); err != nil {
		return nil, err
	}
	for _, r := range rows {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = fmt.Sprint(r[c])
		}
		if err := w.Write(cells); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

func (b *bulkClient) json(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	reply, err := b.call(ctx, method, path, "application/json", body)
	if err != nil {
		return err
	}
	return json.Unmarshal(reply, out)
}

// maxReply bounds the results of a job.
const maxReply = 256 << 20

func (b *bulkClient) call(ctx context.Context, method, path, kind string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, b.url+bulkPath+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+b.token)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxReply))
	if err == nil && reply.StatusCode >= 300 {
		err = fmt.Errorf("%s %s was answered %d", method, path, reply.StatusCode)
	}
	return text, err
}
