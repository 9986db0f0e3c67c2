package salesforce

import (
	"context"
	"fmt"
)

// MaxRows is the number of rows Salesforce takes in one collection call.
const MaxRows = 200

// maxRuns is the number of runs of rows of one object in one collection call.
const maxRuns = 10

// The collection calls take any number of rows and send them in calls of at
// most MaxRows; no rows, no call. Results stand at the place of their row. The
// error is the first call's that failed as a whole: then the rows of that call
// carry its fault, and those of calls not sent any more a retryable one.

// InsertAll creates the rows.
func (c *Client) InsertAll(ctx context.Context, rows []Row, allOrNone bool) ([]SaveResult, error) {
	return c.inChunks(ctx, rowChunks(rows), func(part []Row) Subrequest {
		return InsertRows("rows", part, allOrNone)
	})
}

// UpdateAll changes the records named by the rows' IDs.
func (c *Client) UpdateAll(ctx context.Context, rows []Row, allOrNone bool) ([]SaveResult, error) {
	return c.inChunks(ctx, rowChunks(rows), func(part []Row) Subrequest {
		return UpdateRows("rows", part, allOrNone)
	})
}

// UpsertAll creates or changes records of one object by the external ID field.
func (c *Client) UpsertAll(ctx context.Context, keyField string, rows []Row, allOrNone bool) ([]SaveResult, error) {
	return c.inChunks(ctx, rowChunks(rows), func(part []Row) Subrequest {
		return UpsertRows("rows", keyField, part, allOrNone)
	})
}

// DeleteAll removes the records; one that is already deleted counts as removed.
func (c *Client) DeleteAll(ctx context.Context, ids []string, allOrNone bool) ([]SaveResult, error) {
	rows := make([]Row, len(ids))
	for i, id := range ids {
		rows[i] = Row{ID: id}
	}
	results, err := c.inChunks(ctx, rowChunks(rows), func(part []Row) Subrequest {
		partIDs := make([]string, len(part))
		for i, r := range part {
			partIDs[i] = r.ID
		}
		return DeleteRows("rows", partIDs, allOrNone)
	})
	for i, r := range results {
		if !r.Success && r.Fault().Code == "ENTITY_IS_DELETED" {
			results[i] = SaveResult{ID: ids[i], Success: true}
		}
	}
	return results, err
}

// rowChunks cuts rows so that each part fits one call: at most MaxRows rows and
// maxRuns runs of one object.
func rowChunks(rows []Row) [][]Row {
	var parts [][]Row
	start, runs := 0, 0
	for i, r := range rows {
		newRun := i == start || r.Object != rows[i-1].Object
		if i-start == MaxRows || newRun && runs == maxRuns {
			parts, start, runs, newRun = append(parts, rows[start:i]), i, 0, true
		}
		if newRun {
			runs++
		}
	}
	if start < len(rows) {
		parts = append(parts, rows[start:])
	}
	return parts
}

func (c *Client) inChunks(ctx context.Context, parts [][]Row, build func([]Row) Subrequest) ([]SaveResult, error) {
	var results []SaveResult
	for n, part := range parts {
		got, err := c.writeRows(ctx, build(part), len(part))
		if err == nil {
			results = append(results, got...)
			continue
		}
		results = append(results, repeat(faultOf(err), len(part))...)
		notSent := Fault{Code: "", Message: "not sent: an earlier call of the batch failed", Class: ClassRetryable}
		for _, rest := range parts[n+1:] {
			results = append(results, repeat(notSent, len(rest))...)
		}
		return results, err
	}
	return results, nil
}

func faultOf(err error) Fault {
	if e, ok := AsError(err); ok {
		return e.Fault
	}
	return Fault{Message: err.Error(), Class: ClassOf(err)}
}

func repeat(f Fault, n int) []SaveResult {
	results := make([]SaveResult, n)
	for i := range results {
		results[i] = SaveResult{Errors: []Fault{f}}
	}
	return results
}

func (c *Client) writeRows(ctx context.Context, s Subrequest, n int) ([]SaveResult, error) {
	req, err := s.request()
	if err != nil {
		return nil, err
	}
	var results []SaveResult
	err = c.call(ctx, req, func(r reply) error {
		var ok bool
		results, ok = decodeSaves(r.body, s.keyField)
		if !ok {
			return r.unreadable()
		}
		if len(results) != n {
			return r.lost(fmt.Sprintf("%d results for %d rows", len(results), n))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}
