package bench

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// delivery is one signed Stripe event about a charge of its own.
type delivery struct {
	n    int
	host string
	at   time.Time
}

// created is the order of every event: 2026-01-01T00:00:00Z.
const created = 1767225600

// body is about as large as Stripe's own.
func (d delivery) body() []byte {
	return fmt.Appendf(nil, `{"id":"evt_bench_%[1]d","object":"event","api_version":"2024-06-20","created":%[2]d,`+
		`"data":{"object":{"id":"ch_bench_%[1]d","object":"charge","amount":%[3]d,"amount_captured":%[3]d,"amount_refunded":0,`+
		`"application":null,"application_fee":null,"balance_transaction":"txn_bench_%[1]d",`+
		`"billing_details":{"address":{"city":"Berlin","country":"DE","line1":"Hauptstraße 1","line2":null,"postal_code":"10827","state":null},`+
		`"email":"person%[1]d@example.com","name":"Jo Person","phone":null},"calculated_statement_descriptor":"ACME","captured":true,`+
		`"created":%[2]d,"currency":"eur","customer":null,"description":"Order %[1]d","disputed":false,"failure_code":null,`+
		`"failure_message":null,"fraud_details":{},"invoice":null,"livemode":false,"metadata":{"order":"%[1]d","shop":"north"},`+
		`"outcome":{"network_status":"approved_by_network","reason":null,"risk_level":"normal","risk_score":32,`+
		`"seller_message":"Payment complete.","type":"authorized"},"paid":true,"payment_intent":"pi_bench_%[1]d",`+
		`"payment_method":"pm_bench_%[1]d","payment_method_details":{"card":{"brand":"visa","country":"US","exp_month":11,`+
		`"exp_year":2030,"fingerprint":"Xt5EWLLDS7FJjR1c","funding":"credit","last4":"4242","network":"visa","wallet":null},"type":"card"},`+
		`"receipt_email":null,"refunded":false,"shipping":null,"status":"succeeded"}},`+
		`"livemode":false,"pending_webhooks":1,"request":{"id":"req_%[1]d","idempotency_key":"key-%[1]d"},"type":"charge.succeeded"}`,
		d.n, created, 100+d.n%100_000)
}

// request is the signed delivery as it goes over the wire.
func (d delivery) request() []byte {
	body := d.body()
	at := d.at.Unix()
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at, body)
	return fmt.Appendf(nil, "POST /webhooks/stripe HTTP/1.1\r\nHost: %s\r\nUser-Agent: bridge-bench\r\nContent-Type: application/json\r\n"+
		"Stripe-Signature: t=%d,v1=%s\r\nContent-Length: %d\r\n\r\n%s", d.host, at, hex.EncodeToString(mac.Sum(nil)), len(body), body)
}

// answerWait bounds the wait for one answer.
const answerWait = 30 * time.Second

// connection is a kept-alive HTTP connection that costs the measuring side
// little.
type connection struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(ctx context.Context, address string) (*connection, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &connection{conn: conn, in: bufio.NewReaderSize(conn, 1024)}, nil
}

// deliver sends a request and reads its answer.
func (c *connection) deliver(request []byte) (status int, err error) {
	if err := c.conn.SetDeadline(time.Now().Add(answerWait)); err != nil {
		return 0, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	reply, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, err
	}
	defer reply.Body.Close()
	_, err = io.Copy(io.Discard, reply.Body)
	return reply.StatusCode, err
}

func (c *connection) close() { _ = c.conn.Close() } // nothing is under way
