package dbread

import (
	"bytes"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// FindPastDamage returns the first entry >= seek with the user key of seek, an internal key, from the data blocks that
// can be read. If there is none, k is nil. Reader.Find ends at the first corrupt data block, but the versions of a key
// can be in several. order orders user keys.
func FindPastDamage(r *table.Reader, order table.Comparer, seek []byte) (k, v []byte) {
	user := internalkey.UserKey(seek)
	it := r.DontFillCache(true).NewIter(&table.IterOptions{OnLoss: func(l table.Loss) bool {
		return order.Compare(internalkey.UserKey(l.To), user) <= 0 // else no later block has the user key
	}})
	defer it.Close() // the lookup has reported its error
	if !it.SeekGE(seek) || order.Compare(internalkey.UserKey(it.Key()), user) != 0 {
		return nil, nil
	}
	return bytes.Clone(it.Key()), bytes.Clone(it.Value())
}
