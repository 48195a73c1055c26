package set

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// callSource makes a call of the Source, whose context is done after ReadTimeout.
func (s *Set) callSource(ctx context.Context, call func(context.Context) error) error {
	limit := s.o.ReadTimeout
	if limit == 0 {
		return call(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := call(limited)
	if err == nil || err == io.EOF || ctx.Err() != nil || limited.Err() == nil {
		return err
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return fmt.Errorf("the Source had no answer within ReadTimeout, %v: %w", limit, err)
}
