package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

const (
	maxUnreadKeys = 100 // how many keys that cannot be read are named

	atATime = 16       // lookups in filters
	gap     = 64 << 10 // bytes between blocks that are read at once
)

// lookups look up keys, and have the outcomes.
type lookups struct {
	set         *set.Set
	print       printer
	printAnswer func(key []byte, may bool) error // of filters

	keys, absent, unread int
	errs                 []error // why keys cannot be read, for the first maxUnreadKeys
}

// get looks up keys together, and prints those that are found, in their order.
func (l *lookups) get(ctx context.Context, keys [][]byte) error {
	values, unread := make([][]byte, len(keys)), make([]error, len(keys))
	answered := false
	o := &table.GetManyOptions{Gap: gap, NoAnswer: func(i int, err error) { unread[i], answered = err, true }}
	err := l.set.GetMany(ctx, keys, o, func(i int, value []byte) error {
		if values[i] = value; value == nil {
			values[i] = []byte{}
		}
		return nil
	})
	if ctx.Err() != nil || err != nil && !answered {
		return ofTable(err)
	}
	l.keys += len(keys)
	for i, key := range keys {
		switch {
		case unread[i] != nil:
			l.addUnread(key, unread[i])
		case values[i] == nil:
			l.absent++
		default:
			if err := l.print(key, values[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask asks filters for keys, and prints their answers.
func (l *lookups) ask(ctx context.Context, keys [][]byte) error {
	may, unread := make([]bool, len(keys)), make([]error, len(keys))
	var g errgroup.Group
	g.SetLimit(atATime)
	for i, key := range keys {
		g.Go(func() error {
			may[i], unread[i] = l.set.MayContain(ctx, key)
			return nil
		})
	}
	g.Wait() // its functions return nil
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.keys += len(keys)
	for i, key := range keys {
		if unread[i] != nil {
			l.addUnread(key, unread[i])
			continue
		}
		if !may[i] {
			l.absent++
		}
		if err := l.printAnswer(key, may[i]); err != nil {
			return err
		}
	}
	return nil
}

func (l *lookups) addUnread(key []byte, err error) {
	if l.unread++; l.unread <= maxUnreadKeys {
		l.errs = append(l.errs, &keyError{key, ofTable(err)})
	}
}

// noteAbsent prints how many of several keys are absent.
func (l *lookups) noteAbsent(stderr io.Writer) {
	if l.keys > 1 && l.absent > 0 {
		are := "are"
		if l.absent == 1 {
			are = "is"
		}
		text.Line(stderr, "sstcloud: note: %d of %d keys %s absent", l.absent, l.keys, are)
	}
}

// failure returns why keys cannot be read. With several keys, it names those that cannot.
func (l *lookups) failure() error {
	if l.keys == 1 && l.unread == 1 {
		return errors.Unwrap(l.errs[0])
	}
	all := l.errs
	if more := l.unread - len(l.errs); more > 0 {
		all = append(all, fmt.Errorf("%s cannot be read either", text.Count(more, "other key")))
	}
	return errors.Join(all...)
}

// negative returns errNegative if a key is absent.
func (l *lookups) negative() error {
	if l.absent > 0 {
		return errNegative
	}
	return nil
}

// A keyError says why it is unknown whether a key is there.
type keyError struct {
	key []byte
	err error
}

func (e *keyError) Error() string { return fmt.Sprintf("key %s: %v", wire.Quote(e.key), e.err) }

func (e *keyError) Unwrap() error { return e.err }
