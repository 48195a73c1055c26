package store

import (
	"net/http"
	"sync/atomic"
)

// connections is the number of idle connections to keep. Opening one takes longer than a request.
const connections = 64

// A counter sends and counts requests, including retries. It implements the S3 SDK's HTTPClient, and
// http.RoundTripper.
type counter struct {
	send func(*http.Request) (*http.Response, error)
	sent *atomic.Int64
}

func (c counter) Do(r *http.Request) (*http.Response, error) {
	c.sent.Add(1)
	return c.send(r)
}

func (c counter) RoundTrip(r *http.Request) (*http.Response, error) { return c.Do(r) }

// count returns a counter of the Store's requests.
func (s *Store) count(send func(*http.Request) (*http.Response, error)) counter {
	s.requests = new(atomic.Int64)
	return counter{send, s.requests}
}

// Requests returns the number of requests sent so far. ok is false for a directory and for an emulator of Google
// Cloud Storage.
func (s *Store) Requests() (n int64, ok bool) {
	if s.requests == nil {
		return 0, false
	}
	return s.requests.Load(), true
}
