package input

import (
	"bytes"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/regular"
)

// contents returns the contents of a file, in buf if its capacity is enough.
func (o Options) contents(path string, buf []byte) ([]byte, error) {
	f, info, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	if err := o.Memory.CheckPair(info.Size()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if n := int(info.Size()) + bytes.MinRead; n > cap(buf) {
		buf = make([]byte, 0, n)
	}
	var in io.Reader = io.LimitReader(f, int64(o.Memory.MaxPair())+1) // in case it grows
	if o.WrapReader != nil {
		in = o.WrapReader(in)
	}
	b := bytes.NewBuffer(buf[:0])
	if _, err := b.ReadFrom(in); err != nil {
		return nil, err
	}
	if err := o.Memory.CheckPair(int64(b.Len())); err != nil {
		return nil, fmt.Errorf("%s, which grew while it was read: %w", path, err)
	}
	return b.Bytes(), nil
}
