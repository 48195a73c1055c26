package dbread

import (
	"bytes"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// FindPastDamage returns the first entry >= seek, an internal key, that is of the same user key and in a data block that can
// be read. k is nil if there is none. A lookup ends at the first data block that is corrupt, but many versions of a key
// can be in several. order is that of user keys.
func FindPastDamage(r *table.Reader, order table.Comparer, seek []byte) (k, v []byte) {
	user := internalkey.UserKey(seek)
	it := r.DontFillCache(true).NewIter(&table.IterOptions{OnLoss: func(l table.Loss) bool {
		return order.Compare(internalkey.UserKey(l.To), user) <= 0 // else no block behind it has the user key
	}})
	defer it.Close() // its error is that of the lookup
	if !it.SeekGE(seek) || order.Compare(internalkey.UserKey(it.Key()), user) != 0 {
		return nil, nil
	}
	return bytes.Clone(it.Key()), bytes.Clone(it.Value())
}
