package measure

import (
	"errors"
	"io"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// A stand is one engine at one work.
type stand struct {
	engine  engine.Engine
	table   engine.Table // nil if the group has none
	options engine.Options
	data    *data
	opened  []io.Closer
}

// close closes what was opened, the last first.
func (s *stand) close() error {
	var err error
	for i := len(s.opened) - 1; i >= 0; i-- {
		err = errors.Join(err, s.opened[i].Close())
	}
	s.opened = nil
	return err
}

// reader opens the table until close. A warm one has its cache filled.
func (s *stand) reader(m engine.Mode) (engine.Reader, error) {
	r, err := s.table.Open(m)
	if err != nil {
		return nil, err
	}
	s.opened = append(s.opened, r)
	if m != engine.Warm {
		return r, nil
	}
	c, err := r.NewCursor()
	if err != nil {
		return nil, err
	}
	err = each(s.data.sparse, func(keys engine.Packed) error { return c.Get(keys, true) })
	return r, errors.Join(err, c.Close())
}

// cursorOf returns a cursor that lives until close.
func (s *stand) cursorOf(r engine.Reader) (engine.Cursor, error) {
	c, err := r.NewCursor()
	if err != nil {
		return nil, err
	}
	s.opened = append(s.opened, c)
	return c, nil
}

// cursor opens the table and returns a cursor.
func (s *stand) cursor(m engine.Mode) (engine.Cursor, error) {
	r, err := s.reader(m)
	if err != nil {
		return nil, err
	}
	return s.cursorOf(r)
}
