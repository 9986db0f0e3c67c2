package simorg_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
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
	runtime.KeepAlive(srv)
}

func post(client *http.Client, srv *simorg.Server, body []byte) bool {
	req, err := http.NewRequest("PATCH", srv.URL()+"/services/data/v65.0/composite/sobjects/Payment__c/Stripe_Charge_Id__c", bytes.NewReader(body))
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
