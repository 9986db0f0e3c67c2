package clients_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg"
	"sfbridge/test/harness"
)

// sf is the command line with a home and a working folder of its own.
type sf struct {
	clients harness.Clients
	home    string
	env     []string
}

func newSF(t *testing.T) *sf {
	t.Helper()
	home := t.TempDir()
	return &sf{clients: harness.NeedClients(t), home: home, env: []string{
		"HOME=" + home, "SF_DISABLE_TELEMETRY=true", "SF_AUTOUPDATE_DISABLE=true", "SF_SKIP_NEW_VERSION_CHECK=true",
		"SF_USE_GENERIC_UNIX_KEYCHAIN=true", "SF_DISABLE_LOG_FILE=true",
	}}
}

// raw runs a command and returns its output.
func (s *sf) raw(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	program := filepath.Join(s.clients.Dir, "node_modules", "@salesforce", "cli", "bin", "run.js")
	return s.clients.Run(t, harness.Command{Args: append([]string{"node", program}, args...), Dir: s.home, Env: s.env})
}

// result runs a command that must work and reads its result.
func (s *sf) result(t *testing.T, into any, args ...string) {
	t.Helper()
	out, err := s.raw(t, append(args, "--json")...)
	require.NoError(t, err)
	var envelope struct {
		Status int             `json:"status"`
		Result json.RawMessage `json:"result"`
	}
	require.NoError(t, json.Unmarshal(out, &envelope), "%s", out)
	require.Zero(t, envelope.Status)
	require.NoError(t, json.Unmarshal(envelope.Result, into))
}

// login is what the command line knows of an org it is logged in to.
type login struct {
	Username    string `json:"username"`
	OrgID       string `json:"orgId"`
	InstanceURL string `json:"instanceUrl"`
	Name        string `json:"name"`
}

func TestSF(t *testing.T) {
	t.Parallel()
	s := newSF(t)
	org := startOrg(t, simorg.Config{})
	s.env = append(s.env, "SF_ACCESS_TOKEN="+org.AccessToken())
	var user login
	s.result(t, &user, "org", "login", "access-token", "--instance-url", org.URL(), "--no-prompt", "--alias", "sim")
	assert.NotEmpty(t, user.OrgID)
	assert.Contains(t, user.InstanceURL, org.URL())

	describe(t, s)
	createAndUpdate(t, s)
	bulkUpsert(t, s)

	out, err := s.raw(t, "api", "request", "rest", "/services/data/v65.0/limits", "--target-org", "sim")
	require.NoError(t, err)
	var limits struct {
		DailyAPIRequests struct{ Max, Remaining int } `json:"DailyApiRequests"`
	}
	require.NoError(t, json.Unmarshal(out, &limits), "%s", out)
	assert.Positive(t, limits.DailyAPIRequests.Remaining)
	assert.Less(t, limits.DailyAPIRequests.Remaining, limits.DailyAPIRequests.Max, "what was done has been counted")
}

func describe(t *testing.T, s *sf) {
	t.Helper()
	var object struct {
		Name   string
		Fields []struct{ Name, Type string }
	}
	s.result(t, &object, "sobject", "describe", "--sobject", "Payment__c", "--target-org", "sim")
	assert.Equal(t, "Payment__c", object.Name)
	types := map[string]string{}
	for _, f := range object.Fields {
		types[f.Name] = f.Type
	}
	assert.Subset(t, types, map[string]string{
		"Id": "id", "Name": "string", "CreatedDate": "datetime", "SystemModstamp": "datetime", "OwnerId": "reference",
		"Stripe_Charge_Id__c": "string", "Amount__c": "double", "Status__c": "picklist", "Paid_At__c": "datetime", "Customer__c": "reference",
	})
}

func createAndUpdate(t *testing.T, s *sf) {
	t.Helper()
	var customer, payment struct {
		ID      string
		Success bool
	}
	s.result(t, &customer, "data", "create", "record", "--sobject", "Customer__c", "--target-org", "sim",
		"--values", "Stripe_Customer_Id__c=cus_sf Email__c=a@example.com")
	require.True(t, customer.Success)
	s.result(t, &payment, "data", "create", "record", "--sobject", "Payment__c", "--target-org", "sim",
		"--values", "Stripe_Charge_Id__c=ch_sf Amount__c=12.5 Note__c='two words' Customer__c="+customer.ID)
	require.True(t, payment.Success)
	s.result(t, &payment, "data", "update", "record", "--sobject", "Payment__c", "--target-org", "sim",
		"--where", "Stripe_Charge_Id__c=ch_sf", "--values", "Status__c=Pending")
	require.True(t, payment.Success)
}

// bulkUpsert creates one row, changes one and fails with one; the failed one is
// told apart in the results of the job.
func bulkUpsert(t *testing.T, s *sf) {
	t.Helper()
	const file = "upsert.csv"
	require.NoError(t, os.WriteFile(filepath.Join(s.home, file), []byte("Stripe_Charge_Id__c,Amount__c,Status__c\n"+
		"ch_sf,13.00,Succeeded\nch_new,1,Pending\nch_bad,1,Nonsense\n"), 0o600))
	out, err := s.raw(t, "data", "upsert", "bulk", "--sobject", "Payment__c", "--file", file, "--external-id", "Stripe_Charge_Id__c",
		"--line-ending", "LF", "--wait", "2", "--target-org", "sim", "--json")
	require.Error(t, err, "one row of three failed")
	var failed struct {
		Name string
		Data struct{ JobID, State string }
	}
	require.NoError(t, json.Unmarshal(out, &failed), "%s", out)
	assert.Equal(t, "FailedRecordDetailsError", failed.Name)
	assert.Equal(t, "JobComplete", failed.Data.State)

	var job struct {
		ProcessedRecords, SuccessfulRecords, FailedRecords int
		FailedFilePath                                     string
	}
	s.result(t, &job, "data", "bulk", "results", "--job-id", failed.Data.JobID, "--target-org", "sim")
	assert.Equal(t, []int{3, 2, 1}, []int{job.ProcessedRecords, job.SuccessfulRecords, job.FailedRecords})
	csv, err := os.ReadFile(filepath.Join(s.home, job.FailedFilePath))
	require.NoError(t, err)
	assert.Contains(t, string(csv), "ch_bad")
	assert.Contains(t, string(csv), "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST")

	var found struct {
		TotalSize int
		Records   []map[string]any
	}
	s.result(t, &found, "data", "query", "--target-org", "sim", "--query", "SELECT Stripe_Charge_Id__c, Amount__c, Status__c, Note__c, "+
		"Customer__r.Email__c FROM Payment__c ORDER BY Stripe_Charge_Id__c DESC")
	require.Equal(t, 2, found.TotalSize)
	for _, row := range found.Records {
		delete(row, "attributes")
		if customer, ok := row["Customer__r"].(map[string]any); ok {
			delete(customer, "attributes")
		}
	}
	assert.Equal(t, []map[string]any{
		{"Stripe_Charge_Id__c": "ch_sf", "Amount__c": 13.0, "Status__c": "Succeeded", "Note__c": "two words", "Customer__r": map[string]any{"Email__c": "a@example.com"}},
		{"Stripe_Charge_Id__c": "ch_new", "Amount__c": 1.0, "Status__c": "Pending", "Note__c": nil, "Customer__r": nil},
	}, found.Records)
}

// The command line signs its own assertions; the org checks them against the
// certificate.
func TestSFLoginByJWT(t *testing.T) {
	t.Parallel()
	s := newSF(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	org := startOrg(t, simorg.Config{JWTCert: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})})
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	args := func(k *rsa.PrivateKey, name string) []string {
		file := filepath.Join(s.home, name)
		data := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)})
		require.NoError(t, os.WriteFile(file, data, 0o600))
		return []string{"org", "login", "jwt", "--client-id", "sim", "--jwt-key-file", file, "--username", "integration@sim.example", "--instance-url", org.URL()}
	}
	var user login
	s.result(t, &user, args(key, "right.key")...)
	assert.Equal(t, "integration@sim.example", user.Username)
	_, err = s.raw(t, append(args(other, "wrong.key"), "--json")...)
	assert.Error(t, err, "signed with another key")
}
