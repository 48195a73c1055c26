package cloud

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"time"
)

// maxTries is the number of times that a call is tried, with the SDK's tries in each.
const maxTries = 5

// firstPause is the average time between the first two tries. Each further one takes twice as long.
const firstPause = 50 * time.Millisecond

// pause counts a failed try and waits before the next one. It returns false if there is none, or if ctx is done.
func pause(ctx context.Context, failed *int) bool {
	if *failed++; *failed == maxTries {
		return false
	}
	average := firstPause << (*failed - 1)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(average/2 + rand.N(average)): // programs that have met do not meet again
		return true
	}
}

// isCut reports whether err means that a response ended early. SDKs try a request again only until its response begins.
func isCut(err error) bool {
	var failed *net.OpError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &failed) && failed.Op == "read"
}
