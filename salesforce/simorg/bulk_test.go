package simorg_test

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg/fault"
)

type job struct {
	ID, State, ContentURL, ErrorMessage         string
	NumberRecordsProcessed, NumberRecordsFailed int
}

func (s *sim) openJob(settings string) job {
	s.t.Helper()
	a := s.do("POST", "jobs/ingest", settings)
	require.Equal(s.t, 200, a.StatusCode, a.body)
	var j job
	a.into(s.t, &j)
	assert.Equal(s.t, "Open", j.State)
	return j
}

// bulk runs a job to its end.
func (s *sim) bulk(settings, data string) job {
	s.t.Helper()
	j := s.openJob(settings)
	assert.Equal(s.t, 201, s.do("PUT", "/"+j.ContentURL, data, "Content-Type", "text/csv").StatusCode)
	a := s.do("PATCH", "jobs/ingest/"+j.ID, `{"state":"UploadComplete"}`)
	require.Equal(s.t, 200, a.StatusCode, a.body)
	require.Eventually(s.t, func() bool {
		s.do("GET", "jobs/ingest/"+j.ID, "").into(s.t, &j)
		return j.State == "JobComplete" || j.State == "Failed"
	}, 10*time.Second, time.Millisecond)
	return j
}

func (s *sim) csv(j job, part string) [][]string {
	s.t.Helper()
	a := s.do("GET", "jobs/ingest/"+j.ID+"/"+part, "")
	require.Equal(s.t, 200, a.StatusCode, a.body)
	assert.Equal(s.t, "text/csv", a.Header.Get("Content-Type"))
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	require.NoError(s.t, err)
	return rows
}

const upsertJob = `{"object":"Payment__c","externalIdFieldName":"Stripe_Charge_Id__c","operation":"upsert","contentType":"CSV","lineEnding":"LF"}`

func TestBulkUpsert(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.insert("Customer__c", `{"Stripe_Customer_Id__c":"cus_1"}`)
	old := s.insert("Payment__c", `{`+charge("ch_old")+`,"Note__c":"kept","Origin__c":"cleared"}`)
	j := s.bulk(upsertJob, "Stripe_Charge_Id__c,Amount__c,Note__c,Origin__c,Customer__r.Stripe_Customer_Id__c\n"+
		"ch_1,12.50,\"a \"\"quoted\"\" note\",,cus_1\n"+
		"ch_old,1,,#N/A,\n"+
		"ch_3,x,,,\n"+
		"ch_4,1,,,cus_missing\n")
	assert.Equal(t, "JobComplete", j.State)
	assert.Equal(t, []int{4, 2}, []int{j.NumberRecordsProcessed, j.NumberRecordsFailed})
	done := s.csv(j, "successfulResults")
	assert.Equal(t, []string{"sf__Id", "sf__Created", "Stripe_Charge_Id__c"}, done[0][:3])
	assert.Equal(t, []string{"true", "ch_1", "12.50", `a "quoted" note`}, done[1][1:5])
	assert.Equal(t, []string{old, "false", "ch_old"}, done[2][:3])
	failed := s.csv(j, "failedResults")
	assert.Equal(t, []string{"", "INVALID_TYPE_ON_FIELD_IN_RECORD:Amount: value not of required type: x:Amount__c --", "ch_3"}, failed[1][:3])
	assert.Equal(t, "INVALID_FIELD:Foreign key external ID: cus_missing not found for field Stripe_Customer_Id__c in entity Customer__c:--", failed[2][1])
	assert.Len(t, s.csv(j, "unprocessedrecords"), 1)
	row := s.Rows("Payment__c")[0]
	assert.Equal(t, "kept", row["Note__c"], "an empty cell leaves the field")
	assert.Nil(t, row["Origin__c"], "#N/A clears it")
}

func TestBulkOtherOperations(t *testing.T) {
	t.Parallel()
	s := setup(t, plant(fault.Fault{Operation: fault.Bulk, Key: "ch_7", Kind: fault.LockRow, Times: 1}))
	var data strings.Builder
	data.WriteString("Stripe_Charge_Id__c\r\n")
	for i := range 450 {
		fmt.Fprintf(&data, "ch_%d\r\n", i)
	}
	j := s.bulk(`{"object":"Payment__c","operation":"insert","lineEnding":"CRLF"}`, data.String())
	assert.Equal(t, []int{450, 1}, []int{j.NumberRecordsProcessed, j.NumberRecordsFailed})
	assert.Contains(t, s.csv(j, "failedResults")[1][1], "UNABLE_TO_LOCK_ROW:unable to obtain exclusive access")

	first, _ := s.Rows("Payment__c")[0]["Id"].(string)
	j = s.bulk(`{"object":"Payment__c","operation":"update","columnDelimiter":"SEMICOLON"}`, "Id;Note__c\n"+first+";changed\n;no id\n")
	assert.Equal(t, 1, j.NumberRecordsFailed)
	assert.Equal(t, "changed", s.Rows("Payment__c")[0]["Note__c"])
	j = s.bulk(`{"object":"Payment__c","operation":"delete"}`, "Id\n"+first+"\n")
	assert.Equal(t, 0, j.NumberRecordsFailed)
	assert.Len(t, s.Rows("Payment__c"), 448)

	for data, message := range map[string]string{
		"Nope__c\nx\n":     "Field name not found : Nope__c",
		"Note__c\r\nx\r\n": "LineEnding is invalid on user data",
		"Note__c\n" + strings.Repeat("x", 32001) + "\n": "32000",
		"Note__c,Origin__c\nx\n":                        "Failed to parse CSV",
		"":                                              "no header",
		"Customer__r.Email__c\nx\n":                     "Field name not found : Customer__r.Email__c",
	} {
		j := s.bulk(`{"object":"Payment__c","operation":"insert"}`, data)
		assert.Equal(t, "Failed", j.State)
		assert.Contains(t, j.ErrorMessage, message)
	}
}

func TestBulkJobStates(t *testing.T) {
	t.Parallel()
	s := setup(t)
	j := s.openJob(upsertJob)
	assert.Contains(t, s.do("GET", "jobs/ingest", "").body, j.ID)
	assert.Equal(t, 201, s.do("PUT", "/"+j.ContentURL, "Stripe_Charge_Id__c\nx\n", "Content-Type", "text/csv").StatusCode)
	assert.Equal(t, 400, s.do("PUT", "/"+j.ContentURL, "again", "Content-Type", "text/csv").StatusCode)
	assert.Equal(t, 400, s.do("PATCH", "jobs/ingest/"+j.ID, `{"state":"JobComplete"}`).StatusCode)
	assert.Contains(t, s.do("PATCH", "jobs/ingest/"+j.ID, `{"state":"Aborted"}`).body, `"state":"Aborted"`)
	assert.Equal(t, 400, s.do("PATCH", "jobs/ingest/"+j.ID, `{"state":"UploadComplete"}`).StatusCode)
	s.want("DELETE", "jobs/ingest/"+j.ID, "", 204, "")
	assert.Equal(t, 404, s.do("GET", "jobs/ingest/"+j.ID, "").StatusCode)
	assert.Empty(t, s.Rows("Payment__c"))

	for settings, code := range map[string]string{
		`{"object":"Nope__c","operation":"insert"}`:                                    "INVALIDENTITY",
		`{"object":"Payment__c","operation":"merge"}`:                                  "INVALIDJOB",
		`{"object":"Payment__c","operation":"upsert","externalIdFieldName":"Note__c"}`: "Field name provided, Note__c does not match an External ID",
		`{"object":"Payment__c","operation":"insert","contentType":"XML"}`:             "INVALIDJOB",
		`{"object":"Payment__c","operation":"insert","columnDelimiter":"DOT"}`:         "INVALIDJOB",
		`{"object":"Payment__c","operation":"insert","lineEnding":"CR"}`:               "INVALIDJOB",
		`[]`: "JSON_PARSER_ERROR",
	} {
		a := s.do("POST", "jobs/ingest", settings)
		assert.Equal(t, 400, a.StatusCode)
		assert.Contains(t, a.body, code)
	}
}

// Closing waits for a job at work: TestMain would find what is left behind.
func TestBulkEndsWithTheServer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	j := s.openJob(upsertJob)
	var data strings.Builder
	data.WriteString("Stripe_Charge_Id__c\n")
	for i := range 5000 {
		fmt.Fprintf(&data, "ch_%d\n", i)
	}
	assert.Equal(t, 201, s.do("PUT", "/"+j.ContentURL, data.String(), "Content-Type", "text/csv").StatusCode)
	assert.Equal(t, 200, s.do("PATCH", "jobs/ingest/"+j.ID, `{"state":"UploadComplete"}`).StatusCode)
	require.NoError(t, s.Close())
	assert.Len(t, s.Rows("Payment__c"), 5000)
}
