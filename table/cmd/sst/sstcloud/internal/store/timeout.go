package store

import (
	"context"
	"fmt"
	"time"
)

// Timeout is how long a read may take, with what the SDK sends again: that of a manifest, of a page of a
// list, of an object's attributes, or of a part of a table. A store that stalls would hold a command up
// for ever.
var Timeout = 2 * time.Minute

// within calls read with a context that ends after Timeout. The error then says so.
func within[T any](ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	v, err := read(limited)
	if err != nil && limited.Err() == context.DeadlineExceeded && ctx.Err() == nil {
		err = fmt.Errorf("the store did not answer within %v: %w", Timeout, err)
	}
	return v, err
}
