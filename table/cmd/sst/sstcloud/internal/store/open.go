// Package store opens what a URL names: a bucket of Amazon S3 or a store like it, one of Google Cloud
// Storage, or a directory.
package store

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/internal/format"
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
		return nil, cli.UsageErrorf("URL is %s, want s3://BUCKET, gs://BUCKET or file:///DIRECTORY", format.Quote([]byte(rawURL)))
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
