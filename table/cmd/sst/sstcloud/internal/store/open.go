// Package store opens what a URL names: a bucket of Amazon S3 or a store like it, one of Google Cloud
// Storage, or a directory.
package store

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/gcspin"
	"github.com/sievetable/sievetable/table/cloud/s3pin"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// A Store is where a set is: a bucket, or the objects of one below a prefix.
type Store struct {
	*blob.Bucket
	name     string        // the URL without its parameters
	dir      string        // "": the store is no directory
	requests *atomic.Int64 // nil: they are not counted
}

// Open opens the store of a URL. Its parameters are those of gocloud.dev/blob, and prefix.
func Open(ctx context.Context, rawURL string) (*Store, error) {
	u, err := url.Parse(rawURL)
	if err != nil || open[u.Scheme] == nil || u.Opaque != "" {
		return nil, cli.UsageErrorf("URL is %s, want s3://BUCKET, gs://BUCKET or file:///DIRECTORY", wire.Quote([]byte(rawURL)))
	}
	if err := checkWhole(u, rawURL); err != nil {
		return nil, err
	}
	prefix, err := takePrefix(u)
	if err != nil {
		return nil, err
	}
	s := &Store{name: nameOf(u, prefix)}
	if s.Bucket, err = open[u.Scheme](ctx, u, s); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	if s.dir != "" {
		s.dir = filepath.Join(s.dir, prefix)
	}
	if prefix != "" {
		s.Bucket = blob.PrefixedBucket(s.Bucket, prefix)
	}
	return s, nil
}

// open has a function for each scheme that opens the bucket of a URL, and has its requests counted.
var open = map[string]func(context.Context, *url.URL, *Store) (*blob.Bucket, error){
	"s3": openS3, "gs": openGCS, "file": openDir,
}

// checkWhole returns an error if a part of a URL would be ignored: the set would be elsewhere than it says.
func checkWhole(u *url.URL, rawURL string) error {
	name := u.Redacted()
	if strings.Contains(rawURL, "#") {
		return cli.UsageErrorf("%s: what follows # is no part of the name, want %%23 for a # in it", name)
	}
	if u.Scheme == "file" && (u.Host != "." && u.Path == "" || u.Host != "." && u.Host != "") {
		return cli.UsageErrorf("%s: no path of a directory, want file:///DIRECTORY with three slashes, or file://./DIRECTORY below this one",
			name)
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return cli.UsageErrorf("%s: %v: want parameters with & in between, %%3B for a ; and %%25 for a %%", name, err)
	}
	for parameter, values := range q {
		if len(values) > 1 {
			return cli.UsageErrorf("%s: %s is given %d times, want it once", name, parameter, len(values))
		}
	}
	return nil
}

// takePrefix removes the prefix of the objects from the parameters, and returns it. A path, which
// gocloud.dev ignores, is an error: the set would be elsewhere than it says.
func takePrefix(u *url.URL) (string, error) {
	q := u.Query()
	prefix := q.Get("prefix")
	path := strings.Trim(u.Path, "/")
	switch {
	case u.Scheme != "file" && u.Host == "":
		return "", cli.UsageErrorf("%s: no bucket, want %s://BUCKET", u.Redacted(), u.Scheme)
	case u.Scheme != "file" && path != "":
		return "", cli.UsageErrorf("%s: a bucket has no path: for objects below a prefix, want %s://%s?prefix=%s/",
			u.Redacted(), u.Scheme, u.Host, path)
	case prefix != "" && !strings.HasSuffix(prefix, "/"):
		return "", cli.UsageErrorf("%s: the prefix has no / at its end, want prefix=%s/", u.Redacted(), prefix)
	case strings.HasPrefix(prefix, "/"):
		return "", cli.UsageErrorf("%s: the prefix begins with /, want prefix=%s", u.Redacted(), strings.TrimLeft(prefix, "/"))
	}
	q.Del("prefix")
	u.RawQuery = q.Encode()
	return prefix, nil
}

// nameOf returns a URL with the prefix and without parameters, with / at its end.
func nameOf(u *url.URL, prefix string) string {
	return u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/") + "/" + prefix
}

// pins are those of the stores that have one.
var pins = []cloud.Pin{s3pin.Pin{}, gcspin.Pin{}}

// Source returns a Source of the tables.
func (s *Store) Source() *cloud.Source { return cloud.NewSource(s.Bucket, pins...) }

// Name returns the name of an object, for messages.
func (s *Store) Name(key string) string { return s.name + key }

// Requests returns how many requests were sent until now. ok is false for a directory, and for an
// emulator of Google's store.
func (s *Store) Requests() (n int64, ok bool) {
	if s.requests == nil {
		return 0, false
	}
	return s.requests.Load(), true
}

// IsDir reports whether the store is a directory.
func (s *Store) IsDir() bool { return s.dir != "" }
