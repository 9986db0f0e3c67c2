// Package orgclient holds the client to the simulated org: the two share no
// code, so what they agree on is the shape of the API.
package orgclient

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
	"sfbridge/salesforce/simorg"
)

const key = "Stripe_Charge_Id__c"

type setup struct {
	org    *simorg.Server
	client *salesforce.Client
}

func start(t *testing.T, change ...func(*simorg.Config)) setup {
	t.Helper()
	cfg := simorg.Config{Samples: true}
	for _, c := range change {
		c(&cfg)
	}
	org, err := simorg.New(cfg)
	require.NoError(t, err)
	require.NoError(t, org.Start())
	t.Cleanup(func() { assert.NoError(t, org.Close()) })
	transport := salesforce.NewTransport()
	t.Cleanup(transport.CloseIdleConnections)
	sessions, err := auth.New(auth.Config{Flow: auth.ClientCredentials, LoginURL: org.URL(), AllowHTTP: true,
		ClientID: "sim", ClientSecret: "sim", Transport: transport})
	require.NoError(t, err)
	client, err := salesforce.New(salesforce.Config{Sessions: sessions, Transport: transport, Timeout: 30 * time.Second})
	require.NoError(t, err)
	return setup{org, client}
}

func charge(id string, fields ...any) salesforce.Row {
	row := salesforce.Row{Object: "Payment__c", Fields: map[string]any{key: id}}
	for i := 0; i < len(fields); i += 2 {
		row.Fields[fields[i].(string)] = fields[i+1]
	}
	return row
}

func charges(n int, prefix string) []salesforce.Row {
	rows := make([]salesforce.Row, n)
	for i := range rows {
		rows[i] = charge(fmt.Sprintf("%s_%d", prefix, i), "Amount__c", json.Number("12.50"))
	}
	return rows
}

func TestEveryLogin(t *testing.T) {
	t.Parallel()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	s := start(t, func(c *simorg.Config) {
		c.Unsure = []string{"jwt-three-minutes"}
		c.JWTCert = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	})
	transport := salesforce.NewTransport()
	t.Cleanup(transport.CloseIdleConnections)
	base := auth.Config{LoginURL: s.org.URL(), AllowHTTP: true, ClientID: "sim", Username: "hook@acme.example", Transport: transport}
	for flow, fill := range map[auth.Flow]func(*auth.Config){
		auth.ClientCredentials: func(c *auth.Config) { c.ClientSecret = "sim" },
		auth.JWT: func(c *auth.Config) {
			c.PrivateKey = salesforce.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
		},
		auth.Password: func(c *auth.Config) { c.Password = "sim" },
		auth.GivenSession: func(c *auth.Config) {
			c.AccessToken, c.InstanceURL = salesforce.Secret(s.org.AccessToken()), s.org.URL()
		},
	} {
		cfg := base
		cfg.Flow = flow
		fill(&cfg)
		sessions, err := auth.New(cfg)
		require.NoError(t, err)
		client, err := salesforce.New(salesforce.Config{Sessions: sessions, Transport: transport})
		require.NoError(t, err)
		_, err = client.Query(t.Context(), "SELECT Id FROM Payment__c")
		require.NoError(t, err, flow)
	}
	wrong := base
	wrong.Flow, wrong.ClientSecret = auth.ClientCredentials, "wrong-secret"
	sessions, err := auth.New(wrong)
	require.NoError(t, err)
	_, err = sessions.Session(t.Context())
	assert.Equal(t, salesforce.ClassAuth, salesforce.ClassOf(err))
}

func TestRowsThereAndBack(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	paid := time.Date(2026, 11, 30, 8, 9, 10, 0, time.UTC)
	made, err := s.client.Insert(ctx, charge("ch_1", "Amount__c", json.Number("12.50"), "Paid_At__c", paid, "Note__c", `a "b" \c é🥇`))
	require.NoError(t, err)
	assert.True(t, *made.Created)
	got, err := s.client.Read(ctx, "Payment__c", made.ID, key, "Amount__c", "Paid_At__c", "Note__c", "Status__c")
	require.NoError(t, err)
	at, ok := got.Time("Paid_At__c")
	assert.True(t, ok)
	assert.Equal(t, paid, at)
	assert.Equal(t, `a "b" \c é🥇`, got.String("Note__c"))
	assert.False(t, got.Has("Status__c"))

	_, err = s.client.Update(ctx, salesforce.Row{Object: "Payment__c", ID: made.ID, Fields: map[string]any{"Note__c": nil}})
	require.NoError(t, err)
	for i, id := range []string{"ch_1", "INV/2026/001", "kim@example.inc", "a+b@ex.test", "50% off #1?", "名前 1", "A/../B"} {
		result, err := s.client.Upsert(ctx, key, charge(id, "Note__c", "second"))
		require.NoError(t, err, id)
		assert.Equal(t, i > 0, *result.Created, id)
		records, err := s.client.Query(ctx, "SELECT Id FROM Payment__c WHERE "+key+" = '"+id+"'")
		require.NoError(t, err)
		assert.Len(t, records, 1, id)
	}
	byKey, err := s.client.ReadByKey(ctx, salesforce.Key{Object: "Payment__c", Field: key, Value: "ch_1"}, "Note__c")
	require.NoError(t, err)
	assert.Equal(t, "second", byKey.String("Note__c"))
	for range 2 {
		_, err = s.client.Delete(ctx, "Payment__c", made.ID)
		require.NoError(t, err, "deleting twice is no error")
	}
}

func TestCollectionsAndTheirFaults(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	results, err := s.client.UpsertAll(ctx, key, charges(401, "ch"), false)
	require.NoError(t, err)
	assert.Len(t, results, 401)
	assert.Equal(t, 3, s.org.Stats().APICalls.ByOperation["collections_upsert"])

	bad := []salesforce.Row{
		charge("ok"),
		charge("status", "Status__c", "Nonsense"),
		charge("parent", "Customer__r", map[string]any{"Stripe_Customer_Id__c": "cus_absent"}),
		charge("long", "Note__c", strings.Repeat("x", 300)),
		charge("twice"), charge("twice"),
	}
	results, err = s.client.UpsertAll(ctx, key, bad, false)
	require.NoError(t, err)
	var classes []salesforce.Class
	for _, r := range results {
		classes = append(classes, r.Class())
	}
	assert.Equal(t, []salesforce.Class{salesforce.ClassOK, salesforce.ClassData, salesforce.ClassDependency, salesforce.ClassData,
		salesforce.ClassRetryable, salesforce.ClassRetryable}, classes)
	assert.True(t, results[4].Fault().RepeatedKey())

	results, err = s.client.InsertAll(ctx, []salesforce.Row{charge("ch_0"), charge("fresh")}, false)
	require.NoError(t, err)
	assert.Equal(t, salesforce.ClassDuplicate, results[0].Class())
	duplicate, ok := results[0].Fault().Duplicate()
	assert.True(t, ok)
	assert.Equal(t, key, duplicate.Field)
	assert.True(t, results[1].Success)

	_, err = s.client.UpsertAll(ctx, key, []salesforce.Row{charge("x", "Absent__c", 1)}, false)
	e, ok := salesforce.AsError(err)
	require.True(t, ok)
	assert.Equal(t, salesforce.ClassConfiguration, e.Class)
	assert.Equal(t, []string{"Absent__c"}, e.NamedFields())
	_, err = s.client.UpsertAll(ctx, "Note__c", []salesforce.Row{charge("x", "Note__c", "n")}, false)
	assert.Equal(t, salesforce.ClassConfiguration, salesforce.ClassOf(err), "no external ID")

	var ids []string
	for _, r := range results {
		if r.Success {
			ids = append(ids, r.ID)
		}
	}
	results, err = s.client.DeleteAll(ctx, append(ids, ids...), false)
	require.NoError(t, err)
	for _, r := range results {
		assert.True(t, r.Success)
	}
}

func TestPagesAndLongQueries(t *testing.T) {
	t.Parallel()
	s, ctx := start(t, func(c *simorg.Config) { c.PageSize = 200 }), t.Context()
	_, err := s.client.InsertAll(ctx, charges(1000, strings.Repeat("名", 20)), false)
	require.NoError(t, err)
	records, err := s.client.Query(ctx, "SELECT Id, "+key+" FROM Payment__c ORDER BY Id")
	require.NoError(t, err)
	assert.Len(t, records, 1000)
	var keys []string
	for _, r := range records[:300] {
		keys = append(keys, "'"+r.String(key)+"'")
	}
	found, err := s.client.Query(ctx, "SELECT Id FROM Payment__c WHERE "+key+" IN ("+strings.Join(keys, ",")+")")
	require.NoError(t, err)
	assert.Len(t, found, 300)
	assert.Positive(t, s.org.Stats().APICalls.ByOperation["composite"], "too long for an address")
	usage := s.client.Usage()
	assert.Positive(t, usage.Used)
	assert.Equal(t, int64(5_000_000), usage.Max)
	limits, err := s.client.Limits(ctx)
	require.NoError(t, err)
	assert.Equal(t, int64(5_000_000), limits["DailyApiRequests"].Max)
}

func TestDescribeOfASample(t *testing.T) {
	t.Parallel()
	s := start(t)
	object, err := s.client.Describe(t.Context(), "Payment__c")
	require.NoError(t, err)
	field, ok := object.Field(key)
	require.True(t, ok)
	assert.True(t, field.ExternalID && field.Unique && field.CaseSensitive && field.Createable && field.Updateable)
	assert.Equal(t, 255, field.Length)
	status, _ := object.Field("Status__c")
	assert.True(t, status.RestrictedPicklist && status.Allows("Refunded"))
	lookup, ok := object.Relationship("Customer__r")
	require.True(t, ok)
	assert.Equal(t, []string{"Customer__c"}, lookup.ReferenceTo)
	_, err = s.client.Describe(t.Context(), "Absent__c")
	require.Error(t, err)
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	lock := salesforce.Row{Object: "Bridge_Queue__c", Fields: map[string]any{"Name__c": "B00", "Touched__c": time.Now()}}
	parts := func(status string) []salesforce.Subrequest {
		return []salesforce.Subrequest{
			salesforce.UpsertRow("lock", "Name__c", lock),
			salesforce.UpsertRows("customers", "Stripe_Customer_Id__c",
				[]salesforce.Row{{Object: "Customer__c", Fields: map[string]any{"Stripe_Customer_Id__c": "cus_1"}}}, false),
			salesforce.UpsertRows("payments", key, []salesforce.Row{
				charge("a"), charge("b", "Status__c", status, "Customer__r", map[string]any{"Stripe_Customer_Id__c": "cus_1"})}, false),
			salesforce.QueryRows("look", "SELECT Id FROM Payment__c"),
		}
	}
	subs, err := s.client.Composite(ctx, parts("Nonsense"), true)
	require.NoError(t, err)
	assert.False(t, salesforce.Committed(subs))
	culprits := salesforce.Culprits(subs)
	require.Len(t, culprits, 1)
	assert.Equal(t, [2]int{2, 1}, [2]int{culprits[0].Sub, culprits[0].Row})
	assert.Empty(t, s.org.Rows("Customer__c"))
	assert.Empty(t, s.org.Rows("Bridge_Queue__c"))

	subs, err = s.client.Composite(ctx, parts("Pending"), true)
	require.NoError(t, err)
	assert.True(t, salesforce.Committed(subs))
	assert.Len(t, subs[3].Records, 2)
	assert.Len(t, s.org.Rows("Customer__c"), 1)

	graph := func(id, charge2, status string) salesforce.Graph {
		return salesforce.Graph{ID: id, Requests: []salesforce.Subrequest{
			salesforce.InsertRow("pay", charge(charge2, "Status__c", status)),
			salesforce.InsertRow("line", salesforce.Row{Object: "Payment_Line__c",
				Fields: map[string]any{"Line_Key__c": charge2 + "/1", "Payment__c": "@{pay.id}"}}),
		}}
	}
	results, err := s.client.Graph(ctx, []salesforce.Graph{graph("g1", "c", "Pending"), graph("g2", "d", "Nonsense"), graph("g3", "a", "Pending")})
	require.NoError(t, err)
	assert.Equal(t, [3]bool{true, false, false}, [3]bool{results[0].OK, results[1].OK, results[2].OK})
	assert.Equal(t, salesforce.ClassData, salesforce.Culprits(results[1].Responses)[0].Fault.Class)
	assert.Equal(t, salesforce.ClassDuplicate, salesforce.Culprits(results[2].Responses)[0].Fault.Class)
	assert.Len(t, s.org.Rows("Payment_Line__c"), 1)
}

func TestOurOwnRulesAreStale(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	made, err := s.client.Insert(ctx, salesforce.Row{Object: "Inbound_Event__c", Fields: map[string]any{"Event_Id__c": "stripe:evt_1", "Status__c": "Received"}})
	require.NoError(t, err)
	_, err = s.client.Update(ctx, salesforce.Row{Object: "Inbound_Event__c", ID: made.ID,
		Fields: map[string]any{"Status__c": "Completed", "Expected_Revision__c": 7, "Revision__c": 9}})
	e, ok := salesforce.AsError(err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, salesforce.ClassStale, e.Class)
	assert.Equal(t, salesforce.TokenRevision, e.Token())

	results, err := s.client.UpsertAll(ctx, key, []salesforce.Row{charge("new", "Source_Prior__c", "stripe:evt_0", "Source_Event__c", "stripe:evt_1")}, false)
	require.NoError(t, err)
	assert.Equal(t, salesforce.ClassStale, results[0].Class())
	assert.Equal(t, salesforce.TokenMoved, results[0].Fault().Token())
}
