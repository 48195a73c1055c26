// Package store opens what a URL names: a bucket of Amazon S3 or a store like it, one of Google Cloud
// Storage, or a directory.
package store

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/gcspin"
	"github.com/sievetable/sievetable/table/cloud/s3pin"
)

// A Store is where a set is: a bucket, or the objects of one below a prefix.
type Store struct {
	*blob.Bucket
	name     string // the URL without its parameters
	dir      bool
	requests *atomic.Int64 // nil: they are not counted
}

// A URLError says what is wrong with a URL.
type URLError string

func (e URLError) Error() string { return string(e) }

func urlErrorf(format string, args ...any) error { return URLError(fmt.Sprintf(format, args...)) }

// Open opens the store of a URL. Its parameters are those of gocloud.dev/blob, and prefix.
func Open(ctx context.Context, rawURL string) (*Store, error) {
	u, err := url.Parse(rawURL)
	if err != nil || open[u.Scheme] == nil {
		return nil, urlErrorf("URL is %s, want s3://BUCKET, gs://BUCKET or file:///DIRECTORY", wire.Quote([]byte(rawURL)))
	}
	prefix, err := takePrefix(u)
	if err != nil {
		return nil, err
	}
	s := &Store{name: nameOf(u, prefix), dir: u.Scheme == "file"}
	if s.Bucket, err = open[u.Scheme](ctx, u, s); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
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

// takePrefix removes the prefix of the objects from the parameters, and returns it. A path, which
// gocloud.dev ignores, is an error: the set would be elsewhere than it says.
func takePrefix(u *url.URL) (string, error) {
	q := u.Query()
	prefix := q.Get("prefix")
	path := strings.Trim(u.Path, "/")
	switch {
	case u.Scheme != "file" && u.Host == "":
		return "", urlErrorf("%s: no bucket, want %s://BUCKET", u, u.Scheme)
	case u.Scheme != "file" && path != "":
		return "", urlErrorf("%s: a bucket has no path: for objects below a prefix, want %s://%s?prefix=%s/", u, u.Scheme, u.Host, path)
	case prefix != "" && !strings.HasSuffix(prefix, "/"):
		return "", urlErrorf("%s: the prefix has no / at its end, want prefix=%s/", u, prefix)
	case strings.HasPrefix(prefix, "/"):
		return "", urlErrorf("%s: the prefix begins with /, want prefix=%s", u, strings.TrimLeft(prefix, "/"))
	}
	q.Del("prefix")
	u.RawQuery = q.Encode()
	return prefix, nil
}

// nameOf returns a URL with the prefix and without parameters, with / at its end.
func nameOf(u *url.URL, prefix string) string {
	return u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/") + "/" + prefix
}

// openDir opens a directory. If the URL does not say otherwise, it has the objects alone: no files
// with attributes, and temporary files beside them, so that they can be renamed.
func openDir(ctx context.Context, u *url.URL, _ *Store) (*blob.Bucket, error) {
	q := u.Query()
	for name, value := range map[string]string{"metadata": "skip", "no_tmp_dir": "true"} {
		if !q.Has(name) {
			q.Set(name, value)
		}
	}
	u.RawQuery = q.Encode()
	return (&fileblob.URLOpener{}).OpenBucketURL(ctx, u)
}

// Source returns a Source of the tables.
func (s *Store) Source() *cloud.Source { return cloud.NewSource(s.Bucket, s3pin.Pin{}, gcspin.Pin{}) }

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
func (s *Store) IsDir() bool { return s.dir }
