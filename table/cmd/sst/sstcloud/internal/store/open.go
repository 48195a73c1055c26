// Package store opens what a URL names: a bucket of Amazon S3 or a store like it, one of Google Cloud
// Storage, or a directory.
package store

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/gcspin"
	"github.com/sievetable/sievetable/table/cloud/s3pin"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/set"
)

// A Store is where a set is: a directory, a bucket, or the objects of one below a prefix.
type Store struct {
	set.Store
	Bucket *cloud.Store // nil: the store is a directory
	Dir    string       // "": it is a bucket

	name     string        // the URL without its parameters, with / at its end
	requests *atomic.Int64 // nil: they are not counted
}

// Timeout is how long a read may take, with what the SDK sends again: that of a manifest, of a page of a
// list, of an object's attributes, or of a part of a table. A store that stalls would hold a command up
// for ever.
var Timeout = 2 * time.Minute

// Open opens the store of a URL. Its parameters are prefix and, for a bucket, those of gocloud.dev/blob.
func Open(ctx context.Context, rawURL string) (*Store, error) {
	u, err := url.Parse(rawURL)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Opaque != "" {
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
	if u.Scheme == "file" {
		err = s.openDir(u, prefix)
	} else {
		err = s.openBucket(ctx, u, prefix)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return s, nil
}

// schemes are those of the URLs of stores.
var schemes = []string{"s3", "gs", "file"}

// pins are those of the stores that have one.
var pins = []cloud.Pin{s3pin.Pin{}, gcspin.Pin{}}

// openBucket opens a bucket, and has its requests counted.
func (s *Store) openBucket(ctx context.Context, u *url.URL, prefix string) (err error) {
	var bucket *blob.Bucket
	if u.Scheme == "s3" {
		bucket, err = openS3(ctx, u, s)
	} else {
		bucket, err = openGCS(ctx, u, s)
	}
	if err != nil {
		return err
	}
	if prefix != "" {
		bucket = blob.PrefixedBucket(bucket, prefix)
	}
	s.Bucket = &cloud.Store{Bucket: bucket, Pins: pins, URL: s.name, Timeout: Timeout}
	s.Store = s.Bucket
	return nil
}

// Close closes the connections of a bucket.
func (s *Store) Close() error {
	if s.Bucket == nil {
		return nil
	}
	return s.Bucket.Bucket.Close()
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

// Requests returns how many requests were sent until now. ok is false for a directory, and for an
// emulator of Google's store.
func (s *Store) Requests() (n int64, ok bool) {
	if s.requests == nil {
		return 0, false
	}
	return s.requests.Load(), true
}
