package effect

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/bridge/outbound"
	"sfbridge/internal/failpoint"
)

// post sends one effect as an HTTP request.
func (w *Worker) post(ctx context.Context, d *delivery, body []byte) {
	e := d.effect
	target, known := w.cfg.Targets.EffectTarget(d.job.ev.Source, e.Name)
	if !known {
		d.result = w.judge(e, verdict{final: true, code: "NO_MAPPING", text: "the mapping has no effect " + e.Name + " any more"})
		return
	}
	failpoint.Hit(failpoint.EffectSending)
	reply, err := w.cfg.HTTP.Do(ctx, outbound.Request{
		Method: http.MethodPost, URL: target.URL, Body: body, Header: headers(e, target.Key, body, w.cfg.Now()),
	})
	failpoint.Hit(failpoint.EffectSent)
	if err != nil {
		d.result = w.judge(e, unanswered(err))
		return
	}
	d.result = w.judge(e, answered(reply, w.cfg.Now()))
}

// headers carry the effect's key, which is the same for every try, and the
// signature of Standard Webhooks.
func headers(e *event.Effect, key, body []byte, now time.Time) http.Header {
	id := HeaderKey(e.Key)
	at := strconv.FormatInt(now.Unix(), 10)
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "sfbridge")
	h.Set("Idempotency-Key", id)
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", at)
	if key != nil {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
		h.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return h
}

// HeaderKey is an effect's key as it is sent: as it is when a header can hold
// it, else hashed.
func HeaderKey(key string) string {
	for _, c := range []byte(key) {
		if c <= ' ' || c >= 0x7f {
			sum := sha256.Sum256([]byte(key))
			return "sha256:" + hex.EncodeToString(sum[:])
		}
	}
	return key
}

// SigningKey reads a secret of Standard Webhooks: "whsec_" and base64, else the
// text itself.
func SigningKey(secret string) ([]byte, error) {
	encoded, standard := strings.CutPrefix(secret, "whsec_")
	if !standard {
		return []byte(secret), nil
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return nil, fmt.Errorf("a secret that begins with whsec_ must go on with base64")
	}
	return key, nil
}
