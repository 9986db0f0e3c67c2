package simorg

import (
	"fmt"
	"io/fs"
	"time"

	"sfbridge/salesforce/simorg/fault"
)

// Config says what org to simulate. The zero value is an org with the
// product's objects, no latency and no faults.
type Config struct {
	Listen   string  // address of Start; empty: 127.0.0.1:0
	Metadata []fs.FS // further SFDX source folders
	Samples  bool    // adds the sample objects

	Latency    time.Duration // of every counted call; half of it passes inside the transaction
	DailyLimit int           // API calls before REQUEST_LIMIT_EXCEEDED; 0: 5,000,000
	PageSize   int           // rows of a query page; 0: 2000
	LockWait   time.Duration // longest wait for a row lock; 0: 10 s

	Unsure []string      // switches, see UnsureSwitches
	Faults []fault.Fault // planted at the start

	JWTCert        []byte        // PEM certificate or public key that JWT bearer assertions are checked against; empty: signature unchecked
	ClientID       string        // of client_credentials; empty: sim
	ClientSecret   string        // empty: sim
	SessionTimeout time.Duration // idle time after which a session ends; 0: 2 h
	LoginsPerHour  int           // token requests and logins a user may make; 0: 3600

	HideFields []string // "Object.Field" names the API user has no field-level access to

	Now func() time.Time // nil: time.Now
}

// Switch is one fact about Salesforce that no source confirms, with the other
// plausible way it could be.
type Switch struct {
	Name    string
	Default string // how the org behaves without the switch
	With    string // how it behaves with it
}

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.DailyLimit == 0 {
		c.DailyLimit = 5_000_000
	}
	if c.PageSize == 0 {
		c.PageSize = 2000
	}
	if c.LockWait == 0 {
		c.LockWait = 10 * time.Second
	}
	if c.ClientID == "" {
		c.ClientID = "sim"
	}
	if c.ClientSecret == "" {
		c.ClientSecret = "sim"
	}
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 2 * time.Hour
	}
	if c.LoginsPerHour == 0 {
		c.LoginsPerHour = 3600
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Validate reports the first setting that makes no sense.
func (c Config) Validate() error {
	switch {
	case c.Latency < 0:
		return fmt.Errorf("simorg: latency is %v, it cannot be negative", c.Latency)
	case c.DailyLimit < 0:
		return fmt.Errorf("simorg: daily limit is %d, it cannot be negative", c.DailyLimit)
	case c.PageSize < 0 || c.PageSize > 2000:
		return fmt.Errorf("simorg: page size is %d, it must be 1 to 2000", c.PageSize)
	}
	for _, f := range c.Faults {
		if err := f.Validate(); err != nil {
			return fmt.Errorf("simorg: %w", err)
		}
	}
	_, err := parseUnsure(c.Unsure)
	return err
}
