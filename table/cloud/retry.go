package cloud

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"gocloud.dev/gcerrors"
	"golang.org/x/net/http2" // net/http's errors convert to its StreamError
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

// A bodyError is an error of reading a response after its header, or a list.
type bodyError struct{ error }

func (e bodyError) Unwrap() error { return e.error }

// isCut reports whether err means that a response ended early. SDKs try a request again only until its response begins.
func isCut(err error) bool {
	var failed *net.OpError
	return errors.As(err, new(bodyError)) || status(err)/100 == 2 ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, new(http2.StreamError)) ||
		errors.As(err, &failed) && failed.Op == "read"
}

// isRefused reports whether the store refuses the request for good, such as one without permission.
func (s *Store) isRefused(err error) bool {
	code := s.status(err)
	temporary := code == http.StatusRequestTimeout || code == http.StatusTooManyRequests
	return code >= 300 && code < 500 && !temporary || gcerrors.Code(err) == gcerrors.PermissionDenied
}

// status returns the HTTP status of the response that err is about, or 0.
func (s *Store) status(err error) int {
	for _, pin := range s.Pins {
		if code := pin.Status(err); code != 0 {
			return code
		}
	}
	return status(err)
}

// status returns the status of an error of the S3 SDK, also for a Store without pins. Other errors do not have it.
func status(err error) int {
	var response interface{ HTTPStatusCode() int }
	if !errors.As(err, &response) {
		return 0
	}
	return response.HTTPStatusCode()
}
