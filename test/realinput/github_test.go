package realinput_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

//go:embed testdata/github.yaml
var githubMapping string

const githubSecret = "It's a secret to everybody"

// examples are all payloads of GitHub's own collection, by event name.
func examples(t *testing.T) (names []string, payloads [][]byte) {
	t.Helper()
	file := filepath.Join(harness.NeedClients(t).Dir, "node_modules", "@octokit", "webhooks-examples", "api.github.com", "index.json")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var kinds []struct {
		Name     string
		Examples []json.RawMessage
	}
	require.NoError(t, json.Unmarshal(data, &kinds))
	for _, kind := range kinds {
		for _, example := range kind.Examples {
			names, payloads = append(names, kind.Name), append(payloads, example)
		}
	}
	require.Greater(t, len(payloads), 300, "the whole collection")
	return names, payloads
}

// githubDeliveries are the examples as GitHub would send them to a source.
func githubDeliveries(t *testing.T) []delivery {
	t.Helper()
	names, payloads := examples(t)
	list := make([]delivery, len(payloads))
	for i, body := range payloads {
		id := fmt.Sprintf("7c1f0000-0000-11ef-%04x-0123456789ab", (i*40503)%65536) // not in the order of the files
		list[i] = delivery{
			name: fmt.Sprintf("%s %d", names[i], i), source: "github", id: id, event: "github:" + id, body: body,
			header: map[string]string{"X-GitHub-Event": names[i], "X-GitHub-Delivery": id},
			fact:   githubFact(names[i], decode(t, body)),
		}
	}
	return list
}

// githubFact reads what an issue, pull request or check run says.
func githubFact(name string, payload tree) *fact {
	switch name {
	case "issues":
		return issueFact(payload)
	case "pull_request":
		return pullFact(payload)
	case "check_run":
		return checkFact(payload)
	}
	return nil
}

var (
	openClosed = asWord(map[string]string{"open": "Open", "closed": "Closed"}, "unknown")
	runStatus  = asWord(map[string]string{"queued": "Queued", "in_progress": "In Progress", "completed": "Completed"}, "unknown")
	runRanks   = map[string]int{"queued": 0, "in_progress": 1, "completed": 2}
)

func issueFact(d tree) *fact {
	id := d.text("issue.id")
	return &fact{
		eventType: "issues." + d.text("action"), entity: id, order: d.rfc3339("issue.updated_at"), deletes: d.text("action") == "deleted",
		writes: []write{{"Issue__c", "GitHub_Id__c", id, d.fields(map[string]string{
			"Number__c": "issue.number", "Title__c": "issue.title", "State__c": "issue.state", "Body__c": "issue.body",
			"Url__c": "issue.html_url", "Author__c": "issue.user.login", "Locked__c": "issue.locked",
			"Opened_At__c": "issue.created_at", "Closed_At__c": "issue.closed_at",
		}, map[string]reader{"Number__c": asNumber, "State__c": openClosed, "Locked__c": asBool, "Opened_At__c": asTime, "Closed_At__c": asTime})}},
	}
}

func pullFact(d tree) *fact {
	id := d.text("pull_request.id")
	return &fact{
		eventType: "pull_request." + d.text("action"), entity: id, order: d.rfc3339("pull_request.updated_at"),
		writes: []write{{"Pull_Request__c", "GitHub_Id__c", id, d.fields(map[string]string{
			"Title__c": "pull_request.title", "State__c": "pull_request.state", "Draft__c": "pull_request.draft",
			"Merged__c": "pull_request.merged", "Additions__c": "pull_request.additions", "Head__c": "pull_request.head.sha",
			"Milestone__c": "pull_request.milestone.title", "Opened_At__c": "pull_request.created_at", "Merged_At__c": "pull_request.merged_at",
		}, map[string]reader{"State__c": openClosed, "Draft__c": asBool, "Merged__c": asBool, "Additions__c": asNumber, "Opened_At__c": asTime, "Merged_At__c": asTime})}},
	}
}

func checkFact(d tree) *fact {
	id := d.text("check_run.id")
	return &fact{
		eventType: "check_run." + d.text("action"), entity: id, rank: runRanks[d.text("check_run.status")],
		order: d.rfc3339("check_run.completed_at", "check_run.started_at"),
		writes: []write{{"Check_Run__c", "GitHub_Id__c", id, d.fields(map[string]string{
			"Check__c": "check_run.name", "Status__c": "check_run.status", "Conclusion__c": "check_run.conclusion",
			"Head__c": "check_run.head_sha", "Started_At__c": "check_run.started_at", "Completed_At__c": "check_run.completed_at",
		}, map[string]reader{"Status__c": runStatus, "Started_At__c": asTime, "Completed_At__c": asTime})}},
	}
}

// countByName counts payloads of the mapped kinds in the files themselves.
func countByName(t *testing.T, wanted ...string) int {
	t.Helper()
	names, _ := examples(t)
	count := 0
	for _, name := range names {
		for _, w := range wanted {
			if name == w {
				count++
			}
		}
	}
	return count
}

// Everything GitHub documents by example is received; issues, pull requests
// and check runs end as records, whatever else leaves no trace. First all is
// received, then a process of its own works on it: so the outcome of every
// single event is known.
func TestGitHub(t *testing.T) {
	t.Parallel()
	org := harness.StartOrg(t, "--metadata", "testdata/objects")
	config := harness.Config{
		Name: "receiver", Org: org, Only: []string{"receive"},
		Mappings: map[string]string{"github.yaml": githubMapping}, Env: map[string]string{"GITHUB_SECRET": githubSecret},
	}
	receiver := harness.StartBridge(t, config)
	list := githubDeliveries(t)
	github := signer{"github", githubSecret}
	require.Len(t, mapped(list), countByName(t, "issues", "pull_request", "check_run"))
	refuse(t, receiver, github, list)
	deliver(t, receiver, github, list, "accepted")
	assert.Equal(t, len(mapped(list)), org.Count(t, "SELECT COUNT() FROM Inbound_Event__c WHERE Status__c = 'Received'"))
	deliver(t, receiver, github, list, "duplicate")

	config.Name, config.Only = "processor", []string{"process"}
	harness.StartBridge(t, config)
	org.Settle(t)
	o := newOracle()
	for _, d := range oldestFirst(list) {
		o.apply(d)
	}
	checkEvents(t, org, list, o.outcomes)
	o.checkRecords(t, org, "Issue__c", "Pull_Request__c", "Check_Run__c")
}
