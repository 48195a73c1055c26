package set

import (
	"context"
	"errors"

	"github.com/sievetable/sievetable/table"
)

// A file is what a member reads from one opening of the table on. When the Source has forgotten
// the table, since it was replaced, what a file reads may be of another table: it then fails.
type file struct {
	*member
	epoch int64 // the count of replaced at the opening
}

// file returns the file for an opening.
func (m *member) file() file { return file{m, m.shared.replaced.Load()} }

var (
	errMiscount = errors.New("the Source says that it has read more bytes than it was asked for, or fewer than none")
	errShort    = errors.New("the Source has read too few bytes and returned no error")
)

// read reads len(p) bytes of the table.
func (f file) read(ctx context.Context, p []byte, off int64) (n int, err error) {
	err = f.ask(func() (err error) {
		n, err = f.s.src.ReadAt(ctx, f.Name, p, off)
		return err
	})
	switch {
	case n < 0 || n > len(p):
		return 0, errors.Join(errMiscount, err)
	case errors.Is(err, ErrReplaced):
		return 0, err
	case n < len(p) && err == nil:
		return n, errShort
	}
	return n, err
}

// ask asks the Source for the table, by a call of it. After the table has ended it asks nothing.
func (f file) ask(call func() error) error {
	if !f.users.acquire() {
		return table.ErrClosed
	}
	defer f.release()
	err := call()
	replaced := errors.Is(err, ErrReplaced)
	if replaced {
		f.forget()
	}
	if f.epoch == f.shared.replaced.Load() {
		return err
	}
	f.closeOpened()
	if replaced {
		return err
	}
	return errors.Join(err, ErrReplaced)
}

// forget lets the Source forget the table, if the manifest tells whether it is the same when it is
// opened again.
func (f file) forget() {
	source, ok := f.s.src.(Forgetter)
	if !ok || f.TailSum == "" || !f.shared.replaced.CompareAndSwap(f.epoch, f.epoch+1) {
		return
	}
	defer f.shared.replaced.Add(1) // for who has begun to open the table before it was forgotten
	source.Forget(f.Name)
}

// closeOpened closes the open Reader, if it reads f.
func (f file) closeOpened() {
	f.mu.Lock()
	o := f.opened.Load()
	if o != nil && (o.epoch != f.epoch || !f.opened.CompareAndSwap(o, nil)) {
		o = nil
	}
	f.mu.Unlock()
	if o != nil {
		o.drop()
	}
}
