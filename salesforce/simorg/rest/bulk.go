package rest

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"sfbridge/salesforce/simorg/jsonin"
	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

// State is where a bulk job stands.
type bulkState string

// A client opens a job, uploads, and says that the upload is complete; the org
// takes it from there. The client may abort it before it is complete.
const (
	bulkOpen       bulkState = "Open"
	bulkUploaded   bulkState = "UploadComplete"
	bulkInProgress bulkState = "InProgress"
	bulkComplete   bulkState = "JobComplete"
	bulkFailed     bulkState = "Failed"
	bulkAborted    bulkState = "Aborted"
)

const maxBulkFile = 150 << 20

// bulkJob is one ingest job; bulkJobs.mu guards it, but for what never changes.
type bulkJob struct {
	id        string
	version   int
	object    *schema.Object
	verb      org.Verb
	operation string
	key       *schema.Field
	comma     rune
	delimiter string
	lineEnd   string
	created   time.Time

	state   bulkState
	message string
	data    []byte
	result  bulkResult
}

// bulkJobs is the jobs of the org and the work on them.
type bulkJobs struct {
	api     *API
	running sync.WaitGroup

	mu   sync.Mutex
	next uint64
	jobs map[string]*bulkJob
	list []*bulkJob
}

func newBulkJobs(a *API) *bulkJobs { return &bulkJobs{api: a, jobs: map[string]*bulkJob{}} }

func (b *bulkJobs) wait() { b.running.Wait() }

func (b *bulkJobs) reset() {
	b.wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs, b.list = map[string]*bulkJob{}, nil
}

// jobs serves jobs/ingest.
func (a *API) jobs(q *request) reply {
	if len(q.path) < 2 || q.path[1] != "ingest" || len(q.path) > 4 {
		return notFound()
	}
	b := a.bulk
	if len(q.path) == 2 {
		switch q.method {
		case http.MethodPost:
			return b.create(q)
		case http.MethodGet:
			return b.all(q)
		}
		return notAllowed(q.method, "GET,POST")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	job := b.jobs[q.path[2]]
	switch {
	case job == nil:
		return notFound()
	case len(q.path) == 4:
		return b.content(q, job)
	case q.method == http.MethodGet:
		return ok(marshal(job.info()))
	case q.method == http.MethodPatch:
		return b.move(q, job)
	case q.method == http.MethodDelete:
		return b.remove(job)
	}
	return notAllowed(q.method, "DELETE,GET,PATCH")
}

func invalidJob(text string) *apiError { return bad("INVALIDJOB", text) }

var (
	bulkVerbs      = map[string]org.Verb{"insert": org.Insert, "update": org.Update, "upsert": org.Upsert, "delete": org.Delete}
	bulkDelimiters = map[string]rune{"": ',', "COMMA": ',', "SEMICOLON": ';', "TAB": '\t', "PIPE": '|', "CARET": '^', "BACKQUOTE": '`'}
)

func (b *bulkJobs) create(q *request) reply {
	job, err := b.read(q)
	if err != nil {
		return err.reply()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	job.id, job.created, job.state = schema.NewID("750", b.next), b.api.cfg.Now().UTC(), bulkOpen
	b.jobs[job.id] = job
	b.list = append(b.list, job)
	return ok(marshal(job.info()))
}

// read checks the settings of a new job.
func (b *bulkJobs) read(q *request) (*bulkJob, *apiError) {
	if q.body == nil || q.body.Kind != jsonin.Object {
		return nil, bad("JSON_PARSER_ERROR", "The HTTP entity body is required to be a JSON object.")
	}
	job := &bulkJob{version: q.version, operation: q.body.StringAt("operation"),
		delimiter: q.body.StringAt("columnDelimiter"), lineEnd: q.body.StringAt("lineEnding")}
	var known bool
	if job.verb, known = bulkVerbs[job.operation]; !known {
		return nil, invalidJob("Unsupported operation: " + job.operation)
	}
	if job.comma, known = bulkDelimiters[job.delimiter]; !known {
		return nil, invalidJob("Unsupported columnDelimiter: " + job.delimiter)
	}
	if job.delimiter == "" {
		job.delimiter = "COMMA"
	}
	if job.lineEnd == "" {
		job.lineEnd = "LF"
	}
	name := q.body.StringAt("object")
	job.object = b.api.cfg.Org.Schema().Object(name)
	kind := q.body.StringAt("contentType")
	switch {
	case job.object == nil:
		return nil, bad("INVALIDENTITY", "Entity '"+name+"' is not supported by the Bulk API.")
	case kind != "" && kind != "CSV":
		return nil, invalidJob("Unsupported contentType: " + kind)
	case job.lineEnd != "LF" && job.lineEnd != "CRLF":
		return nil, invalidJob("Unsupported lineEnding: " + job.lineEnd)
	case job.verb != org.Upsert:
		return job, nil
	}
	given := q.body.StringAt("externalIdFieldName")
	job.key = b.api.field(job.object, given)
	if job.key == nil || !job.key.ExternalID && job.key.Type != schema.ID {
		return nil, invalidJob("InvalidJob : Field name provided, " + given + " does not match an External ID, Salesforce Id, or indexed field for " + job.object.Name)
	}
	return job, nil
}

// info is the description of a job.
func (j *bulkJob) info() map[string]any {
	m := map[string]any{
		"id": j.id, "operation": j.operation, "object": j.object.Name, "createdById": org.UserID,
		"createdDate": j.created.Format("2006-01-02T15:04:05.000+0000"), "systemModstamp": j.created.Format("2006-01-02T15:04:05.000+0000"),
		"state": j.state, "concurrencyMode": "Parallel", "contentType": "CSV", "apiVersion": j.version, "jobType": "V2Ingest",
		"contentUrl": "services/data/v" + itoa(j.version) + ".0/jobs/ingest/" + j.id + "/batches",
		"lineEnding": j.lineEnd, "columnDelimiter": j.delimiter, "retries": 0, "totalProcessingTime": 0,
		"apiActiveProcessingTime": 0, "apexProcessingTime": 0, "assignmentRuleId": nil,
		"numberRecordsProcessed": len(j.result.done) + len(j.result.failed), "numberRecordsFailed": len(j.result.failed),
	}
	if j.key != nil {
		m["externalIdFieldName"] = j.key.Name
	}
	if j.message != "" {
		m["errorMessage"] = j.message
	}
	return m
}

func (b *bulkJobs) all(q *request) reply {
	b.mu.Lock()
	defer b.mu.Unlock()
	records := []map[string]any{}
	for _, job := range b.list {
		records = append(records, job.info())
	}
	return ok(marshal(map[string]any{"done": true, "records": records, "nextRecordsUrl": nil}))
}

// content serves the upload and the results of a job.
func (b *bulkJobs) content(q *request, job *bulkJob) reply {
	part := q.path[3]
	if part == "batches" {
		return b.upload(q, job)
	}
	if q.method != http.MethodGet {
		return notAllowed(q.method, "GET")
	}
	var text []byte
	switch strings.ToLower(part) {
	case "successfulresults":
		text = job.result.csv([]string{"sf__Id", "sf__Created"}, job.result.done)
	case "failedresults":
		text = job.result.csv([]string{"sf__Id", "sf__Error"}, job.result.failed)
	case "unprocessedrecords":
		text = job.result.csv(nil, job.result.left)
	default:
		return notFound()
	}
	return reply{status: http.StatusOK, kind: "text/csv", body: text}
}

func (b *bulkJobs) upload(q *request, job *bulkJob) reply {
	switch {
	case q.method != http.MethodPut:
		return notAllowed(q.method, "PUT")
	case job.state != bulkOpen || job.data != nil:
		return bad("INVALIDJOBSTATE", "Data can be uploaded once, while the job is Open; it is "+string(job.state)+".").reply()
	case len(q.raw) > maxBulkFile:
		return refused(http.StatusRequestEntityTooLarge, "EXCEEDED_MAX_SIZE_REQUEST", "The file is larger than 150 MB.")
	}
	job.data = append([]byte{}, q.raw...)
	return reply{status: http.StatusCreated}
}

// move is a client's change of state.
func (b *bulkJobs) move(q *request, job *bulkJob) reply {
	var to bulkState
	if q.body != nil {
		to = bulkState(q.body.StringAt("state"))
	}
	switch {
	case to == bulkUploaded && job.state == bulkOpen:
		job.state = bulkUploaded
		b.running.Go(func() { b.run(job) })
	case to == bulkAborted && (job.state == bulkOpen || job.state == bulkUploaded || job.state == bulkInProgress):
		job.state = bulkAborted
	default:
		return bad("INVALIDJOBSTATE", "A job that is "+string(job.state)+" cannot become "+string(to)+".").reply()
	}
	return ok(marshal(job.info()))
}

func (b *bulkJobs) remove(job *bulkJob) reply {
	switch job.state {
	case bulkUploaded, bulkInProgress:
		return bad("INVALIDJOBSTATE", "A job that is "+string(job.state)+" cannot be deleted.").reply()
	}
	delete(b.jobs, job.id)
	for i, other := range b.list {
		if other == job {
			b.list = append(b.list[:i], b.list[i+1:]...)
			break
		}
	}
	return reply{status: http.StatusNoContent}
}
