package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// maxUnreadKeys is how many keys that cannot be read are named. As many more are named if each has another
// cause than those before.
const maxUnreadKeys = 100

// lookups are the outcomes of several lookups.
type lookups struct {
	keys, absent, unread uint64
	damage               []error         // why keys cannot be read, for those that are named
	causes               map[string]bool // their messages
}

// run looks up keys. Damage, or a table with a filter only, ends only the lookup of its key.
func (l *lookups) run(s *source.Source, keys [][]byte, answer func(*source.Source, []byte) (found bool, err error)) error {
	for _, key := range keys {
		l.keys++
		found, err := answer(s, key)
		switch {
		case errors.Is(err, table.ErrCorrupt) || errors.Is(err, table.ErrFilterOnly):
			l.addDamage(key, err)
		case err != nil:
			return err
		case !found:
			l.absent++
		}
	}
	return nil
}

func (l *lookups) addDamage(key []byte, err error) {
	l.unread++
	cause := err.Error()
	if len(l.damage) < maxUnreadKeys || len(l.damage) < 2*maxUnreadKeys && !l.causes[cause] {
		if l.causes == nil {
			l.causes = map[string]bool{}
		}
		l.causes[cause] = true
		l.damage = append(l.damage, fmt.Errorf("key %s: %w", wire.Quote(key), err))
	}
}

// noteAbsent prints how many of several keys are absent.
func (l *lookups) noteAbsent(stderr io.Writer) {
	if l.keys > 1 && l.absent > 0 {
		are := "are"
		if l.absent == 1 {
			are = "is"
		}
		text.Note(stderr, "%d of %d keys %s absent", l.absent, l.keys, are)
	}
}

// failure returns the damage. With several keys, it names those that cannot be read.
func (l *lookups) failure() error {
	if l.keys == 1 && l.unread == 1 {
		return errors.Unwrap(l.damage[0])
	}
	all := l.damage
	if more := l.unread - uint64(len(l.damage)); more > 0 {
		all = append(all, fmt.Errorf("%s cannot be read either", text.Count(more, "other key")))
	}
	return errors.Join(all...)
}
