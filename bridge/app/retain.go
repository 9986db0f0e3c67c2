package app

import (
	"sfbridge/bridge/event"
	"sfbridge/bridge/retain"
)

func (b *Bridge) newKeeper() (*retain.Keeper, error) {
	r := b.cfg.Retention
	return retain.New(retain.Config{
		Org: b.org, PayloadAfter: r.PayloadAfter, RowAfter: r.RowAfter, ArchiveDir: r.ArchiveDir,
		Leases: b.leases("retain"), Owner: owner(),
		Yields: func() bool { return b.yields(event.RetainWork) }, Log: b.log, Now: b.now,
	})
}
