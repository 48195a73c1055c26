package store

import (
	"net/http"
	"sync/atomic"
)

// connections is how many connections to a store are kept. For each further request at a time one is
// opened, which takes longer than the request.
const connections = 64

// A counter sends requests and counts them, also those that are sent again. It is a client of S3's SDK, and a transport.
type counter struct {
	send func(*http.Request) (*http.Response, error)
	sent *atomic.Int64
}

func (c counter) Do(r *http.Request) (*http.Response, error) {
	c.sent.Add(1)
	return c.send(r)
}

func (c counter) RoundTrip(r *http.Request) (*http.Response, error) { return c.Do(r) }

// count returns what sends the requests of a Store and counts them.
func (s *Store) count(send func(*http.Request) (*http.Response, error)) counter {
	s.requests = new(atomic.Int64)
	return counter{send, s.requests}
}

// Requests returns how many requests were sent until now. ok is false for a directory, and for an
// emulator of Google's store.
func (s *Store) Requests() (n int64, ok bool) {
	if s.requests == nil {
		return 0, false
	}
	return s.requests.Load(), true
}
