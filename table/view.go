package table

// View calls f with the value of key, without a copy of it, and returns f's error. If the table does
// not have the key, f is not called, and the error is [ErrNotFound]. It is Get for a program that
// needs the value for a moment.
//
// The value is valid until f returns. f must not change it. If it lies in a mapped file, and another
// program cuts that while f reads it, f ends by a panic that View turns into an error: deferred calls
// run. In the last page of the file, what was cut reads as zeros instead. f must not hand the value to
// another goroutine.
func (r *Reader) View(key []byte, f func(value []byte) error) (err error) {
	t, err := r.startLookup(&noOptions)
	if err != nil {
		return err
	}
	defer t.mapped.leave(t.mapped.enter(), &err)
	i, filterChecked, err := t.locate(key)
	if err != nil {
		return err
	}
	d := dataBlock{view: true}
	defer d.release()
	if err := d.openForLookup(t, i, &noOptions); err != nil {
		return err
	}
	value, err := d.lookup(t, key, filterChecked)
	if err != nil {
		return err
	}
	return f(value)
}
