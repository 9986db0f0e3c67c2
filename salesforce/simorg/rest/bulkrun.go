package rest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/simorg/jsonin"
	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

const maxBulkCell = 32000 // characters

// bulkResult is what became of the rows of a job.
type bulkResult struct {
	header       []string
	done, failed []bulkRow
	left         []bulkRow // never looked at
}

// bulkRow is a row as uploaded, behind the cells the org adds.
type bulkRow struct{ added, cells []string }

// column is one column of an upload: a field, or a lookup by the external ID
// of its parent.
type column struct{ field, through *schema.Field }

// run works a job off in chunks, as batches of the org's own do.
func (b *bulkJobs) run(job *bulkJob) {
	if !b.step(job, bulkUploaded, bulkInProgress, "") {
		return
	}
	header, rows, err := job.parse()
	var columns []column
	if err == nil {
		columns, err = b.columns(job, header)
	}
	if err != nil {
		b.step(job, bulkInProgress, bulkFailed, err.Error())
		return
	}
	b.mu.Lock()
	job.result.header = header
	b.mu.Unlock()
	for from := 0; from < len(rows); from += maxCollection {
		chunk := rows[from:min(from+maxCollection, len(rows))]
		if !b.chunk(job, columns, chunk) {
			b.leave(job, rows[from:])
			return
		}
	}
	b.step(job, bulkInProgress, bulkComplete, "")
}

// step moves a job on, unless it is in another state by now.
func (b *bulkJobs) step(job *bulkJob, from, to bulkState, message string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if job.state != from {
		return false
	}
	job.state, job.message = to, message
	return true
}

func (b *bulkJobs) leave(job *bulkJob, rows [][]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, cells := range rows {
		job.result.left = append(job.result.left, bulkRow{cells: cells})
	}
}

// parse reads the uploaded CSV.
func (j *bulkJob) parse() (header []string, rows [][]string, err error) {
	hasCR := bytes.Contains(j.data, []byte("\r\n"))
	if hasCR != (j.lineEnd == "CRLF") && bytes.ContainsRune(j.data, '\n') {
		return nil, nil, fmt.Errorf("ClientInputError : LineEnding is invalid on user data. Current LineEnding setting is %s", j.lineEnd)
	}
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(j.data, []byte("\ufeff"))))
	in.Comma = j.comma
	header, err = in.Read()
	if err != nil {
		return nil, nil, errors.New("InvalidBatch : The CSV has no header row")
	}
	for {
		cells, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return header, rows, nil
		case err != nil:
			return nil, nil, fmt.Errorf("InvalidBatch : Failed to parse CSV. %w", err)
		}
		for _, cell := range cells {
			if len(cell) > maxBulkCell {
				return nil, nil, errors.New("InvalidBatch : Failed to parse CSV. Field size exceeds 32000 characters")
			}
		}
		rows = append(rows, cells)
	}
}

func (b *bulkJobs) columns(job *bulkJob, header []string) ([]column, error) {
	columns := make([]column, len(header))
	for i, name := range header {
		relation, ext, nested := strings.Cut(name, ".")
		f := b.api.field(job.object, name)
		if nested {
			f = job.object.Relationship(relation)
		}
		if f == nil || b.api.cfg.Hidden(f) {
			return nil, fmt.Errorf("InvalidBatch : Field name not found : %s", name)
		}
		columns[i].field = f
		if !nested {
			continue
		}
		parent := b.api.cfg.Org.Schema().Object(f.ReferenceTo[0])
		columns[i].through = b.api.field(parent, ext)
		if through := columns[i].through; through == nil || !through.ExternalID && through.Type != schema.ID {
			return nil, fmt.Errorf("InvalidBatch : Field name not found : %s", name)
		}
	}
	return columns, nil
}

// chunk writes up to 200 rows; false means the job was aborted.
func (b *bulkJobs) chunk(job *bulkJob, columns []column, rows [][]string) bool {
	b.mu.Lock()
	goOn := job.state == bulkInProgress
	b.mu.Unlock()
	if !goOn {
		return false
	}
	d := org.DML{Verb: job.verb, Key: job.key}
	for _, cells := range rows {
		d.Records = append(d.Records, b.row(job, columns, cells))
	}
	q := &request{operation: fault.Bulk, object: job.object.Name, tx: b.api.cfg.Org.Begin()}
	results := q.tx.Do(b.api.statement(q, d))
	b.api.pause(b.api.cfg.Latency)
	q.tx.Commit()
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, res := range results {
		if res.OK() {
			job.result.done = append(job.result.done, bulkRow{[]string{res.ID, fmt.Sprint(res.Created)}, rows[i]})
		} else {
			job.result.failed = append(job.result.failed, bulkRow{[]string{res.ID, bulkError(res.Errors[0])}, rows[i]})
		}
	}
	return true
}

// row reads the cells of one row: an empty one leaves its field alone, #N/A
// clears it.
func (b *bulkJobs) row(job *bulkJob, columns []column, cells []string) org.Record {
	rec := org.Record{Object: job.object}
	for i, c := range columns {
		if cells[i] == "" {
			continue
		}
		f := c.field
		if c.through != nil {
			f = c.through
		}
		var value any
		if cells[i] != "#N/A" {
			var err *apiError
			if value, err = (reader{b.api, nil}).value(f, &jsonin.Value{Kind: jsonin.String, Text: cells[i]}); err != nil {
				rec.Bad = &org.RowError{Code: "INVALID_TYPE_ON_FIELD_IN_RECORD", Fields: []string{f.Name},
					Message: f.Label + ": value not of required type: " + cells[i]}
				continue
			}
		}
		switch {
		case c.through != nil && value != nil:
			rec.Set = append(rec.Set, org.Assignment{Field: c.field, Value: &org.Ref{Field: c.through, Value: value}})
		case f.Type == schema.ID:
			rec.ID, _ = value.(string)
			rec.Key = value
		case f == job.key:
			rec.Key = value
		default:
			rec.Set = append(rec.Set, org.Assignment{Field: c.field, Value: value})
		}
	}
	checkBulkID(job, &rec)
	return rec
}

func checkBulkID(job *bulkJob, rec *org.Record) {
	if job.verb == org.Insert || job.verb == org.Upsert && job.key.Type != schema.ID {
		checkID(org.DML{Verb: job.verb, Key: job.key}, rec)
	}
}

func bulkError(e org.RowError) string {
	fields := "--"
	if len(e.Fields) > 0 {
		fields = strings.Join(e.Fields, " ") + " --"
	}
	return e.Code + ":" + e.Message + ":" + fields
}

// csv writes rows behind the added columns, every cell quoted.
func (r *bulkResult) csv(added []string, rows []bulkRow) []byte {
	b := appendCSV(nil, added, r.header)
	for _, row := range rows {
		b = appendCSV(b, row.added, row.cells)
	}
	return b
}

func appendCSV(b []byte, lists ...[]string) []byte {
	first := true
	for _, list := range lists {
		for _, cell := range list {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(b, '"')
			b = append(b, strings.ReplaceAll(cell, `"`, `""`)...)
			b = append(b, '"')
		}
	}
	return append(b, '\n')
}
