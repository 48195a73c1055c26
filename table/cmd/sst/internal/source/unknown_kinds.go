package source

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// checkKind returns an error if e is of a kind that LevelDB does not have: whether there is a value, or which,
// cannot be known. In a database of LevelDB that is damage. Another table may be of an engine that has the kind.
func (s *Source) checkKind(e Entry) error {
	if e.Kind <= table.KindSet {
		return nil
	}
	if !e.Table.inDatabase {
		return fmt.Errorf("the newest version of key %s is of kind %s: sst scan of the table shows it, and only its engine knows the value", wire.Quote(e.Key), dbfile.KindName(e.Kind))
	}
	f, err := s.open(e.Table)
	if err != nil {
		return err
	}
	key := table.InternalKey{UserKey: e.Key, Sequence: e.Sequence, Kind: e.Kind}
	block, err := f.Reader.Locate(key.Append(nil))
	return errors.Join(err, f.Wrap(e.KindDamage(block)), s.release(e.Table, f))
}

// leavesOut reports whether a scan leaves out e, the newest version of its key: a tombstone, or one whose kind
// is damage that is passed over. Then the key is a Loss.
func (s *Source) leavesOut(e Entry, o ScanOptions) (bool, error) {
	err := s.checkKind(e)
	if s.isPassedOver(err) {
		s.loseKey(e.Table, e.Key, false, err)
		return true, nil
	}
	return e.Kind == table.KindDelete && !o.Tombstones, err
}
