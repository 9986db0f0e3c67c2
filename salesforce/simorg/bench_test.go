package simorg_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg"
)

// collectionBody is an upsert of 200 payments, keys beginning at first.
func collectionBody(first int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"allOrNone":false,"records":[`)
	for i := range 200 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"attributes":{"type":"Payment__c"},"Stripe_Charge_Id__c":"ch_%d","Amount__c":12.50,"Currency__c":"EUR","Status__c":"Succeeded","Paid_At__c":"2026-11-30T08:09:10.000Z","Note__c":"a note","Source_Order__c":1796034265123,"Source_Event__c":"evt_%d"}`,
			first+i, first+i)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// BenchmarkCollectionsUpsert measures rows through HTTP, half created and half
// updated, with eight clients: 20,000 rows/s on two cores is the least.
func BenchmarkCollectionsUpsert(b *testing.B) {
	srv, err := simorg.New(simorg.Config{Samples: true})
	require.NoError(b, err)
	require.NoError(b, srv.Start())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	defer func() {
		client.CloseIdleConnections()
		require.NoError(b, srv.Close())
	}()
	var next atomic.Int64
	var failed atomic.Bool
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= b.N {
					return
				}
				body := collectionBody(n / 2 * 200)
				if !post(client, srv, body) {
					failed.Store(true)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	require.False(b, failed.Load())
	b.ReportMetric(float64(b.N*200)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkDueQuery measures the query of a poller over 100,000 staged rows, of
// which one in ten is due.
func BenchmarkDueQuery(b *testing.B) {
	srv, err := simorg.New(simorg.Config{})
	require.NoError(b, err)
	require.NoError(b, srv.Start())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	defer func() {
		client.CloseIdleConnections()
		require.NoError(b, srv.Close())
	}()
	for first := 0; first < 100_000; first += 200 {
		var list []string
		for i := first; i < first+200; i++ {
			queue := "null"
			if i%10 == 0 {
				queue = fmt.Sprintf(`"B%02d"`, i/10%16)
			}
			list = append(list, fmt.Sprintf(`"Event_Id__c":"e%d","Object_Id__c":"o%d","Queue__c":%s,"Source_Timestamp__c":"2026-11-30T08:09:10Z"`, i, i/3, queue))
		}
		require.True(b, call(client, srv, "POST", "composite/sobjects", records("Inbound_Event__c", false, list...)))
	}
	query := "query?q=" + escape("SELECT Id, Event_Id__c, Object_Id__c, Payload__c FROM Inbound_Event__c WHERE Queue__c IN ('B00','B01','B02','B03') AND Status__c IN ('Received','Retryable') AND (Next_Attempt_At__c = null OR Next_Attempt_At__c <= 2026-11-30T10:00:00Z) ORDER BY Source_Timestamp__c LIMIT 800")
	b.ResetTimer()
	for b.Loop() {
		require.True(b, call(client, srv, "GET", query, ""))
	}
}

func post(client *http.Client, srv *simorg.Server, body []byte) bool {
	return call(client, srv, "PATCH", upsertPayments, string(body))
}

func call(client *http.Client, srv *simorg.Server, method, path, body string) bool {
	req, err := http.NewRequest(method, srv.URL()+base+"/"+path, strings.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer "+srv.AccessToken())
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}
