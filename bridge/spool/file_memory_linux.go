package spool

import (
	"syscall"

	"go.etcd.io/bbolt"
)

// unmap gives the pages of the file that were read back to the system, which
// keeps them as long as it has room: else a long outage, read once from one end
// to the other, counts as memory of this process. The pages are those of the
// file, so nothing is lost by it; who needs one reads it again. The transaction
// keeps the mapping where it is meanwhile.
func unmap(tx *bbolt.Tx) {
	if tx.Size() <= mappedAllowance {
		return
	}
	// Advice that isn't taken costs memory and nothing else.
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, tx.DB().Info().Data, uintptr(tx.Size()), syscall.MADV_DONTNEED)
}
